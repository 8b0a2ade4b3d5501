/* Preloaded: the Nth call that reads or writes a file below one folder fails, once or from then on.

   For Linux; also calls that SQLite makes, which Python knows nothing of. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 4096
enum { OPENING = 1, WRITING = 2, SYNCING = 4, CUTTING = 8, RENAMING = 16, CLOSING = 32, READING = 64 };

static char folder[4096];
enum { READ = 1, WRITTEN };
static char ours[FILES]; /* by descriptor: what it is opened for */
static long asked, fails_at, failed;
static int calls, error, for_good; /* error 0: half of the bytes */

/* Watch the files below a folder, whose path ends in a slash. */
void fail_below(const char *path) { strncpy(folder, path, sizeof folder - 1); }

/* From now on the nth call of these kinds fails (0: none), and with `good` all that follow. */
void fail(long nth, int kinds, int number, int good) {
    asked = failed = 0, fails_at = nth, calls = kinds, error = number, for_good = good;
}

long fail_asked(void) { return asked; }
long fail_failed(void) { return failed; }

static int below(const char *path) { return *folder && path && !strncmp(path, folder, strlen(folder)); }
static int is_ours(int fd) { return fd >= 0 && fd < FILES && ours[fd]; }

static int hit(int kind) {
    long n;
    if (!(kind & calls))
        return 0;
    n = __sync_add_and_fetch(&asked, 1);
    if (!fails_at || (for_good ? n < fails_at : n != fails_at))
        return 0;
    __sync_add_and_fetch(&failed, 1);
    return 1;
}

/* Whether it fails with an error; where bytes are moved, `bytes` are halved instead if no error is wanted. */
static int refused(int kind, size_t *bytes) {
    if (!error && (!bytes || *bytes < 2))
        return 0;
    if (!hit(kind))
        return 0;
    if (error) {
        errno = error;
        return 1;
    }
    *bytes /= 2;
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(int fd, const char *path, int writes) {
    if (fd >= 0 && fd < FILES)
        ours[fd] = !below(path) ? 0 : writes ? WRITTEN : READ;
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        mode_t mode;                                                                                                   \
        va_start(rest, flags);                                                                                         \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                               \
        va_end(rest);                                                                                                  \
        if (below(path) && refused(flags & O_ACCMODE ? OPENING : READING, NULL))                                       \
            return -1;                                                                                                 \
        return opened(REAL(name)(path, flags, mode), path, flags & O_ACCMODE);                                         \
    }
OPEN(open)
OPEN(open64)

#define MOVE(name, kind, type, parameters, arguments)                                                                  \
    ssize_t name(int fd, type bytes, size_t n parameters) {                                                            \
        if (is_ours(fd) && refused(kind, &n))                                                                          \
            return -1;                                                                                                 \
        return REAL(name)(fd, bytes, n arguments);                                                                     \
    }
#define NONE
#define AND ,
MOVE(write, WRITING, const void *, NONE, NONE)
MOVE(pwrite, WRITING, const void *, AND off_t at, AND at)
MOVE(pwrite64, WRITING, const void *, AND off64_t at, AND at)
MOVE(read, READING, void *, NONE, NONE)
MOVE(pread, READING, void *, AND off_t at, AND at)
MOVE(pread64, READING, void *, AND off64_t at, AND at)

/* Nobody waits for the disk, which is not what is tested. */
int fsync(int fd) { return is_ours(fd) ? (refused(SYNCING, NULL) ? -1 : 0) : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_ours(fd) ? (refused(SYNCING, NULL) ? -1 : 0) : REAL(fdatasync)(fd); }

int ftruncate(int fd, off_t n) { return is_ours(fd) && refused(CUTTING, NULL) ? -1 : REAL(ftruncate)(fd, n); }
int ftruncate64(int fd, off64_t n) { return is_ours(fd) && refused(CUTTING, NULL) ? -1 : REAL(ftruncate64)(fd, n); }

int rename(const char *from, const char *to) {
    return below(to) && refused(RENAMING, NULL) ? -1 : REAL(rename)(from, to);
}

/* The descriptor is gone, whatever it says, which it does of what was written. */
int close(int fd) {
    int was = is_ours(fd), done;
    if (was)
        was = ours[fd], ours[fd] = 0;
    done = REAL(close)(fd);
    return was == WRITTEN && refused(CLOSING, NULL) ? -1 : done;
}
