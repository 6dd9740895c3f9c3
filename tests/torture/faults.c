/* In front of the C library: one call that writes fails, ends the process, or takes half of what it
   is given, as a full disk, a signal or a file system over the network may do. Loaded with
   LD_PRELOAD. Calls are counted from the moment at which a fault is ordered. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, KILL, FULL, BROKEN, SHORT, FILLED };
enum { NEEDS_SPACE = 1, MAY_BE_SHORT = 2, MOST = 1 << 16 };

static long at = 0, seen = 0, struck = 0;
static int kind = NONE;
static unsigned char traits[MOST];

void fault_at(long number, int which) { at = number; seen = struck = 0; kind = which; }

long calls_seen(void) { return seen; }

long faults_struck(void) { return struck; }

/* What can happen to the n-th call: the sum of NEEDS_SPACE and MAY_BE_SHORT. */
int traits_of(long number) { return traits[number % MOST]; }

static int is_regular(int file)
{
    struct stat it;
    return fstat(file, &it) == 0 && S_ISREG(it.st_mode);
}

/* Whether a call fails; a disk that is filled refuses all later calls that need space. */
static int fails(int needs_space)
{
    long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
    traits[number % MOST] = needs_space ? NEEDS_SPACE : 0;
    if (kind == FILLED && at && number >= at && needs_space) {
        struck++;
        errno = ENOSPC;
        return 1;
    }
    if (number != at || (kind != KILL && kind != FULL && kind != BROKEN))
        return 0;
    struck++;
    if (kind == KILL)
        kill(getpid(), SIGKILL);
    errno = kind == FULL ? ENOSPC : EIO;
    return 1;
}

/* How many bytes a write takes. */
static size_t taken(int file, size_t size)
{
    if (size < 2 || !is_regular(file))
        return size;
    traits[seen % MOST] |= MAY_BE_SHORT;
    if (kind != SHORT || seen != at)
        return size;
    struck++;
    return size / 2;
}

#define REAL(TYPE, NAME, PARAMETERS)           \
    static TYPE(*real) PARAMETERS;             \
    if (!real)                                 \
        real = dlsym(RTLD_NEXT, #NAME);

#define WRITE(NAME, PARAMETERS, ARGUMENTS)     \
    ssize_t NAME PARAMETERS                    \
    {                                          \
        REAL(ssize_t, NAME, PARAMETERS)        \
        if (fails(is_regular(file)))           \
            return -1;                         \
        return real ARGUMENTS;                 \
    }

#define CALL(NAME, NEEDS_SPACE, PARAMETERS, ARGUMENTS) \
    int NAME PARAMETERS                        \
    {                                          \
        REAL(int, NAME, PARAMETERS)            \
        if (fails(NEEDS_SPACE))                \
            return -1;                         \
        return real ARGUMENTS;                 \
    }

WRITE(write, (int file, const void *data, size_t size), (file, data, taken(file, size)))
WRITE(pwrite, (int file, const void *data, size_t size, off_t place),
      (file, data, taken(file, size), place))
WRITE(pwrite64, (int file, const void *data, size_t size, off64_t place),
      (file, data, taken(file, size), place))
WRITE(writev, (int file, const struct iovec *parts, int n), (file, parts, n))
WRITE(pwritev, (int file, const struct iovec *parts, int n, off_t place), (file, parts, n, place))
WRITE(pwritev64, (int file, const struct iovec *parts, int n, off64_t place),
      (file, parts, n, place))
CALL(fsync, 0, (int file), (file))
CALL(fdatasync, 0, (int file), (file))
CALL(ftruncate, 0, (int file, off_t size), (file, size))
CALL(ftruncate64, 0, (int file, off64_t size), (file, size))
CALL(fallocate, 1, (int file, int mode, off_t place, off_t size), (file, mode, place, size))
CALL(fallocate64, 1, (int file, int mode, off64_t place, off64_t size), (file, mode, place, size))
CALL(rename, 0, (const char *old, const char *new), (old, new))
CALL(renameat, 0, (int from, const char *old, int to, const char *new), (from, old, to, new))
CALL(renameat2, 0, (int from, const char *old, int to, const char *new, unsigned int flags),
     (from, old, to, new, flags))
CALL(unlink, 0, (const char *path), (path))
CALL(unlinkat, 0, (int folder, const char *path, int flags), (folder, path, flags))
CALL(mkdir, 1, (const char *path, mode_t mode), (path, mode))
CALL(mkdirat, 1, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(rmdir, 0, (const char *path), (path))
CALL(link, 1, (const char *old, const char *new), (old, new))
CALL(linkat, 1, (int from, const char *old, int to, const char *new, int flags),
     (from, old, to, new, flags))
CALL(symlink, 1, (const char *target, const char *path), (target, path))
CALL(symlinkat, 1, (const char *target, int folder, const char *path), (target, folder, path))
