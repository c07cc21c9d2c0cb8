/* What a server's file system does to a process that it is mounted for, to be preloaded. SERVER_LACKS names what it has
not: `locks`, `room` (reserved ahead), `maps` (that are written). A file that is removed while it is mapped stays in its
folder under another name, `.nfs...`, until it is mapped no more. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST 512

static int kept[MOST], count, number;

static int lacks(const char *what) {
    const char *said = getenv("SERVER_LACKS");
    return said != NULL && strstr(said, what) != NULL;
}

int flock(int file, int operation) {
    if (lacks("locks")) {
        errno = ENOLCK;
        return -1;
    }
    return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(file, operation);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    if (lacks("room"))
        return EOPNOTSUPP;
    return ((int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate"))(file, offset, length);
}

int posix_fallocate64(int file, off64_t offset, off64_t length) {
    return posix_fallocate(file, offset, length);
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    if (lacks("maps") && file >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"))(at, size, protection, flags,
                                                                                       file, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset) {
    return mmap(at, size, protection, flags, file, offset);
}

static int is_mapped(ino_t wanted) {
    char line[4096];
    unsigned long node;
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL)
        return 0;
    while (!found && fgets(line, sizeof line, maps) != NULL)
        found = sscanf(line, "%*s %*s %*s %*s %lu", &node) == 1 && node == wanted;
    fclose(maps);
    return found;
}

static int really_unlink(int folder, const char *path, int flags) {
    return ((int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat"))(folder, path, flags);
}

int unlinkat(int folder, const char *path, int flags) {
    struct stat about;
    char other[4096];
    const char *name = strrchr(path, '/');
    int size = name == NULL ? 0 : (int)(name - path) + 1;
    if (flags != 0 || count == MOST || fstatat(folder, path, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode) || !is_mapped(about.st_ino))
        return really_unlink(folder, path, flags);
    if (strncmp(path + size, ".nfs", 4) == 0) {
        errno = EBUSY;
        return -1;
    }
    snprintf(other, sizeof other, "%.*s.nfs%08x", size, path, ++number);
    kept[count] = openat(folder, path, O_PATH | O_CLOEXEC);
    if (renameat(folder, path, folder, other) != 0)
        return -1;
    count++;
    return 0;
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int munmap(void *at, size_t size) {
    int result = ((int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap"))(at, size), error = errno;
    char link[64], path[4096];
    for (int place = 0; place < count;) {
        struct stat about;
        snprintf(link, sizeof link, "/proc/self/fd/%d", kept[place]);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length > 0 && fstat(kept[place], &about) == 0 && is_mapped(about.st_ino)) {
            place++;
            continue;
        }
        path[length > 0 ? length : 0] = 0;
        really_unlink(AT_FDCWD, path, 0);
        close(kept[place]);
        kept[place] = kept[--count];
    }
    errno = error;
    return result;
}
