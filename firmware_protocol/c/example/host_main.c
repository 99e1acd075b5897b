/* The example table as a program. The wire is a pty (or stdin and stdout), the panel is the terminal.

       table-host [--link PATH] [--stdio] [--boot-id N] [--speed N]

   It prints "wire /dev/pts/N": that is the port to give to the daemon. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "table.h"

#define PENDING_MOST 512U /* as much as the transmit buffer of a small board */

static struct table table;
static int wire_in = -1;
static int wire_out = -1;
static int held = -1; /* the other end of the pty stays open, so that a host may come and go */
static const char *link_path;
static bool restart;
static volatile sig_atomic_t ended;
static uint8_t pending[PENDING_MOST];
static uint32_t pending_count;

static uint32_t clock_us(void *self)
{
    struct timespec now;

    (void)self;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)(((uint64_t)now.tv_sec * 1000000U) + ((uint64_t)now.tv_nsec / 1000U));
}

static void drain(void)
{
    ssize_t done = (pending_count > 0U) ? write(wire_out, pending, pending_count) : 0;

    if (done > 0) {
        pending_count -= (uint32_t)done;
        (void)memmove(pending, &pending[done], pending_count);
    }
}

static bool write_wire(void *self, const uint8_t *octets, uint8_t count)
{
    bool room = (pending_count + count) <= PENDING_MOST;

    (void)self;
    if (room) {
        (void)memcpy(&pending[pending_count], octets, count);
        pending_count += count;
        drain();
    }
    return room;
}

static void say(void *self, const char *text)
{
    (void)self;
    if (wire_out != STDOUT_FILENO) {
        (void)fputs(text, stdout);
        (void)fflush(stdout);
    }
}

static void ask_restart(void *self)
{
    (void)self;
    restart = true;
}

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static void fail(const char *what, const char *hint)
{
    (void)fprintf(stderr, "table-host: %s: %s\n%s\n", what, strerror(errno), hint);
    exit(2);
}

static void open_pty(void)
{
    struct termios modes;
    const char *name;
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

    if ((fd < 0) || (grantpt(fd) != 0) || (unlockpt(fd) != 0)) {
        fail("no pty", "is /dev/ptmx there and usable?");
    }
    name = ptsname(fd);
    held = (name == NULL) ? -1 : open(name, O_RDWR | O_NOCTTY);
    if ((held < 0) || (tcgetattr(held, &modes) != 0)) {
        fail("no pty", "is /dev/pts mounted?");
    }
    cfmakeraw(&modes);
    (void)tcsetattr(held, TCSANOW, &modes);
    wire_in = fd;
    wire_out = fd;
    if (link_path != NULL) {
        (void)unlink(link_path);
        if (symlink(name, link_path) != 0) {
            fail(link_path, "--link wants a path that may be written");
        }
    }
    (void)printf("wire %s\n", name);
    (void)fflush(stdout);
}

static uint32_t number(const char *option, const char *text, uint32_t most)
{
    char *end = NULL;
    unsigned long value = (text == NULL) ? 0UL : strtoul(text, &end, 0);

    if ((text == NULL) || (end == text) || (*end != '\0') || (value > most)) {
        (void)fprintf(stderr, "table-host: %s wants a number up to %u\n", option, (unsigned)most);
        exit(2);
    }
    return (uint32_t)value;
}

static uint32_t noise(void)
{
    uint32_t value = 0U;
    int fd = open("/dev/urandom", O_RDONLY);

    if ((fd < 0) || (read(fd, &value, sizeof value) != (ssize_t)sizeof value)) {
        value = 0U;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return value;
}

static void usage(void)
{
    (void)puts("table-host: the example table of tablectl, speaking the table wire\n"
               "\n"
               "  --link PATH    a symbolic link to the pty, for a stable name\n"
               "  --stdio        the wire on stdin and stdout; no pty, no panel\n"
               "  --boot-id N    the boot_id to tell; 0 as a board without one (default: noise)\n"
               "  --speed N      motors N times as fast as real ones (default 1)\n"
               "\n"
               "It prints 'wire /dev/pts/N', the port for tablectl. Then it is the table's panel: type 'help'.");
}

int main(int argc, char **argv)
{
    static const struct table_port PORT = {NULL, clock_us, write_wire, say, ask_restart};
    uint8_t octets[256];
    uint32_t boot_id = noise();
    uint16_t speed = 1U;
    bool stdio = false;
    bool panel = true;
    int i;

    for (i = 1; i < argc; i++) {
        const char *value = ((i + 1) < argc) ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "--stdio") == 0) {
            stdio = true;
        } else if ((strcmp(argv[i], "--link") == 0) && (value != NULL)) {
            link_path = value;
            i++;
        } else if (strcmp(argv[i], "--boot-id") == 0) {
            boot_id = number("--boot-id", value, UINT32_MAX);
            i++;
        } else if (strcmp(argv[i], "--speed") == 0) {
            speed = (uint16_t)number("--speed", value, 60000U);
            i++;
        } else if (strcmp(argv[i], "--help") == 0) {
            usage();
            return 0;
        } else {
            (void)fprintf(stderr, "table-host: unknown option %s; --help tells which there are\n", argv[i]);
            return 2;
        }
    }
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    if (stdio) {
        wire_in = STDIN_FILENO;
        wire_out = STDOUT_FILENO;
        panel = false;
    } else {
        open_pty();
    }
    table_start(&table, &PORT, boot_id, (uint8_t)TCTL_RESET_CAUSE_POWER_ON, (speed == 0U) ? 1U : speed);
    while (ended == 0) {
        uint32_t wait = table_run(&table);
        struct pollfd ports[2] = {{wire_in, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        ssize_t count;

        drain();
        if (pending_count > 0U) {
            ports[0].events = (short)(ports[0].events | ((wire_in == wire_out) ? POLLOUT : 0));
            wait = (wait < 1000U) ? wait : 1000U;
        }
        if (poll(ports, panel ? 2U : 1U, (int)((wait + 999U) / 1000U)) < 0) {
            continue; /* a signal */
        }
        if ((ports[0].revents & (POLLIN | POLLHUP)) != 0) {
            count = read(wire_in, octets, sizeof octets);
            if (count > 0) {
                table_wire(&table, octets, (uint32_t)count);
            } else if (stdio && (count == 0)) {
                ended = 1;
            } else {
                /* nobody there just now */
            }
        }
        if (panel && ((ports[1].revents & (POLLIN | POLLHUP)) != 0)) {
            count = read(STDIN_FILENO, octets, sizeof octets);
            if (count > 0) {
                table_panel(&table, octets, (uint32_t)count);
            } else {
                panel = false; /* the panel is closed; the table lives on */
            }
        }
        if (restart) {
            restart = false;
            pending_count = 0U;
            table_start(&table, &PORT, (boot_id == 0U) ? 0U : noise(), (uint8_t)TCTL_RESET_CAUSE_SOFTWARE, table.speed);
        }
    }
    if (link_path != NULL) {
        (void)unlink(link_path);
    }
    return 0;
}
