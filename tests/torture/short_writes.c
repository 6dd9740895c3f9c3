/* In front of the C library: one write to a file takes half of what it is given, as a full disk, a
   signal or a file system over the network may do. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

static long at = 0, seen = 0;

void short_writes_at(long number) { at = number; seen = 0; }

long short_writes_seen(void) { return seen; }

static size_t taken(int file, size_t size)
{
    struct stat it;
    if (size < 2 || fstat(file, &it) || !S_ISREG(it.st_mode))
        return size;
    seen++;
    return seen == at ? size / 2 : size;
}

ssize_t write(int file, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "write");
    return real(file, data, taken(file, size));
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t place)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "pwrite64");
    return real(file, data, taken(file, size), place);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t place)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        real = dlsym(RTLD_NEXT, "pwrite");
    return real(file, data, taken(file, size), place);
}
