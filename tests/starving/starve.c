/* Preloaded: memory is out for the Nth block that faultsim's compiled modules ask for, once or from then on.

   Blocks that they got and nobody has freed are counted.  For glibc, whose own functions have second names. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

#define MODULES 256
#define ROOM (1 << 20)

static struct { uintptr_t begin, end; } module[MODULES];
static int modules;
static long asked, fails_at, live;
static int for_good;
static void *block[ROOM]; /* open addressing; GONE was one */
static void *const GONE = (void *)1;
static volatile int lock;

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    int i;
    (void)size, (void)data;
    if (strstr(info->dlpi_name, "/faultsim/_core/"))
        for (i = 0; i < info->dlpi_phnum; i++)
            if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X && modules < MODULES) {
                module[modules].begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                module[modules].end = module[modules].begin + info->dlpi_phdr[i].p_memsz;
                modules++;
            }
    return 0;
}

/* Which modules there are; how many. */
int starve_modules(void) {
    modules = 0;
    dl_iterate_phdr(look, NULL);
    return modules;
}

/* From now on the nth is refused (0: none), and with `good` all that follow. */
void starve(long nth, int good) { asked = 0, fails_at = nth, for_good = good; }

long starve_asked(void) { return asked; }
long starve_live(void) { return live; }

static int ours(void *from) {
    uintptr_t at = (uintptr_t)from;
    int i;
    for (i = 0; i < modules; i++)
        if (at >= module[i].begin && at < module[i].end)
            return 1;
    return 0;
}

static int refused(void) {
    long n = __sync_add_and_fetch(&asked, 1);
    return fails_at && (for_good ? n >= fails_at : n == fails_at);
}

static size_t slot_of(void *p) { return ((uintptr_t)p >> 4) * 0x9E3779B97F4A7C15u >> 40 & (ROOM - 1); }

static void note(void *p) {
    size_t i = slot_of(p);
    if (!p)
        return;
    while (__sync_lock_test_and_set(&lock, 1)) {}
    while (block[i] && block[i] != GONE)
        i = (i + 1) & (ROOM - 1);
    block[i] = p;
    live++;
    __sync_lock_release(&lock);
}

static int forget(void *p) {
    size_t i = slot_of(p);
    int found = 0;
    if (!p || !live)
        return 0;
    while (__sync_lock_test_and_set(&lock, 1)) {}
    while (block[i] && block[i] != p)
        i = (i + 1) & (ROOM - 1);
    if (block[i] == p) {
        block[i] = GONE;
        live--;
        found = 1;
    }
    __sync_lock_release(&lock);
    return found;
}

void *malloc(size_t n) {
    void *p;
    if (!modules || !ours(__builtin_return_address(0)))
        return __libc_malloc(n);
    if (refused())
        return NULL;
    p = __libc_malloc(n);
    note(p);
    return p;
}

void *calloc(size_t n, size_t each) {
    void *p;
    if (!modules || !ours(__builtin_return_address(0)))
        return __libc_calloc(n, each);
    if (refused())
        return NULL;
    p = __libc_calloc(n, each);
    note(p);
    return p;
}

void *realloc(void *old, size_t n) {
    int mine = modules && ours(__builtin_return_address(0)), was;
    void *p;
    if (mine && refused())
        return NULL;
    was = forget(old);
    p = __libc_realloc(old, n);
    if (p ? mine || was : was && n)
        note(p ? p : old);
    return p;
}

void free(void *p) {
    forget(p);
    __libc_free(p);
}
