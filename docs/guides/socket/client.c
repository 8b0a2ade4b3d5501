/* A client of faultsim serve in C: cc client.c -o client && ./client /tmp/faultsim < requests
   Requests are lines of standard input, answers lines of standard output. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), c;
    static char request[1 << 20];

    if (argc != 2 || strlen(argv[1]) >= sizeof at.sun_path)
        return 2;
    strcpy(at.sun_path, argv[1]);
    if (server < 0 || connect(server, (struct sockaddr *)&at, sizeof at) < 0)
        return 1;
    FILE *answers = fdopen(server, "r"), *requests = fdopen(dup(server), "w");
    if (answers == NULL || requests == NULL)
        return 1;
    while (fgets(request, sizeof request, stdin) != NULL) {
        fputs(request, requests);
        fflush(requests);
        do {
            c = fgetc(answers);
            if (c != EOF)
                putchar(c);
        } while (c != '\n' && c != EOF);
    }
    return 0;
}
