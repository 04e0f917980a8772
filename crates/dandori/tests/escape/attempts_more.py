# Further attempts of the same kind: other calls for the same ends, and ends that the first list does not have.
import ctypes, fcntl, os, resource, select, signal, socket, struct, subprocess, threading, time

from attempts import DAEMON, HOME, N, P, REPO, STATE, VICTIM, call, connected, fails, libc, mount, new_ns_then, secret, text, umount, written

KEY = HOME + "/.ssh/id_ed25519"
NOTES = HOME + "/notes.txt"


def openat2(resolve):
    def go():
        fd = os.open("/", os.O_PATH)
        got = call(437, fd, KEY[1:].encode(), struct.pack("QQQ", os.O_RDONLY, 0, resolve), 24)
        return b"s3cret" in os.read(got, 100)
    return go


def through_open_folder():
    folder = os.open(HOME + "/.ssh", os.O_PATH | os.O_DIRECTORY)
    return b"s3cret" in os.read(os.open("id_ed25519", os.O_RDONLY, dir_fd=folder), 100)


def opened_again():
    return b"s3cret" in text("/proc/self/fd/%d" % os.open(KEY, os.O_PATH))


def moved_folder():
    os.makedirs("climb/deep", exist_ok=True)
    fd = os.open("climb/deep", os.O_PATH)
    os.rename("climb/deep", "climbed")
    return b"s3cret" in os.read(os.open("../" * 30 + KEY[1:], os.O_RDONLY, dir_fd=fd), 100)


def swapped_link():
    # Whoever looks at the name first and opens it afterwards opens something else.
    os.symlink("README.md", "swap-a")
    os.symlink(KEY, "swap-b")
    stop = time.time() + 1

    def swap():
        while time.time() < stop:
            call(N(316, 276), -100, b"swap-a", -100, b"swap-b", 2)  # exchange

    threading.Thread(target=swap, daemon=True).start()
    while time.time() < stop:
        try:
            if b"s3cret" in text("swap-a"):
                return True
        except OSError:
            pass
    return False


def root_of_ones_own():
    if libc.unshare(0x10000000) != 0:
        return False
    top = os.open("/", os.O_RDONLY)
    os.chroot(".")
    os.fchdir(top)
    os.chdir("../" * 8)
    return b"s3cret" in text(KEY[1:])


def cloned_then(action):
    def go():
        order = struct.pack("8Q", 0x10000000 | 0x00020000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
        child = call(435, order, 64)
        if child == 0:
            try:
                os._exit(7 if action() else 0)
            except BaseException:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    return go


def bound_over_home():
    return mount("/", HOME, None, 4096 | 16384)  # everything, in the place of the home folder


def watched(path):
    def go():
        return call(N(254, 27), call(N(294, 26), 0), path.encode(), 0x2) >= 0
    return go


def notified():
    # As anybody may: with names instead of files.
    fd = call(N(300, 262), 0x200, os.O_RDONLY)
    return call(N(301, 263), fd, 1, 0x20, -100, KEY.encode()) == 0


def is_spare():
    line = "/proc/%d/cmdline" % P["spare"]
    return os.path.exists(line) and b"1000.5" in text(line)


def ended_by_a_file():
    if not is_spare():
        return False
    reads, writes = os.pipe()
    fcntl.fcntl(reads, 8, P["spare"])  # its owner
    fcntl.fcntl(reads, 10, signal.SIGKILL)  # told by this
    fcntl.fcntl(reads, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writes, b"x")
    until = time.time() + 1
    while is_spare() and time.time() < until:
        time.sleep(0.01)
    return not is_spare()


def pidfd_signal():
    return call(424, call(434, VICTIM, 0), signal.SIGWINCH, None, 0) == 0


def folder_signal():
    return call(424, os.open("/proc/%d" % VICTIM, os.O_DIRECTORY), signal.SIGWINCH, None, 0) == 0


def limit(kind):
    def go():
        # Higher than whoever set it wanted.
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return True
    return go


def datagram(path):
    def go():
        return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"evil", path) == 4
    return go


def handed_over():
    # A file of one's own into somebody else's process.
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(3)
    s.connect(HOME + "/service.sock")
    socket.send_fds(s, [b"x"], [os.open("README.md", os.O_RDONLY)])
    return b"door" in s.recv(16)


def socket_by_link():
    os.symlink(HOME + "/service.sock", "way")
    return connected("way")()


def socket_by_name():
    os.link(HOME + "/service.sock", "way-in")
    return connected("way-in")()


def socket_by_file():
    return connected("/proc/self/fd/%d" % os.open(HOME + "/service.sock", os.O_PATH))()


def queue():
    ident = libc.msgget(ctypes.c_int(P["shm_key"]), 0o600)
    return ident >= 0 and libc.msgsnd(ident, struct.pack("l8s", 1, b"evil"), 8, 0o4000) == 0


def semaphore():
    ident = libc.semget(ctypes.c_int(P["shm_key"]), 0, 0o600)
    return ident >= 0 and libc.semctl(ident, 0, 16, 1) == 0


def posix_queue():
    return libc.mq_open(P["queue"].encode(), os.O_RDWR | os.O_NONBLOCK) >= 0


def flags_of_a_file():
    fd = os.open(NOTES, os.O_RDONLY)
    fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x40 | 0x80000))  # no dump; extents, as it has
    return True


def timer_that_wakes():
    return call(N(283, 85), 8, 0) >= 0


def queue_length_of_lo():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    now = fcntl.ioctl(s, 0x8942, struct.pack("16si", b"lo", 0) + bytes(20))
    fcntl.ioctl(s, 0x8943, now)  # the same again
    return True


def record():
    return open(".git").read().split(" ", 1)[1].strip()


def hard_link_then_write():
    os.link(NOTES, "notes-link")
    return written("notes-link")()


def exchanged():
    open("exchange", "w").write("evil")
    return call(N(316, 276), -100, b"exchange", -100, NOTES.encode(), 2) == 0


def bound_socket():
    socket.socket(socket.AF_UNIX).bind(HOME + "/evil.sock")
    return True


def cgroup_procs():
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"):
        try:
            os.close(os.open(top + "/cgroup.procs", os.O_WRONLY))
            return True
        except OSError:
            pass
    return False


def can_write(path):
    # Nothing is written: what belongs to the machine is not this suite's to change.
    return fails(lambda: os.close(os.open(path, os.O_WRONLY)))


def terminal_taken():
    os.setsid()
    fd = os.open(P["pts"], os.O_RDWR)
    return os.isatty(fd) and fcntl.ioctl(fd, 0x540E, 1) == 0


def namespace_of(pid):
    return lambda: os.open("/proc/%d/ns/user" % pid, os.O_RDONLY) > 0


def namespace_by_pidfd():
    return call(N(16, 29), call(434, VICTIM, 0), 0xFF03, 0) >= 0  # its mounts


def namespace_above():
    return fcntl.ioctl(os.open("/proc/self/ns/user", os.O_RDONLY), 0xB702) >= 0


MORE = {
    # reads
    "read by a way of one's own through the root": openat2(0x10),
    "read without links and without mounts between": openat2(0x4),
    "read through a folder that is open": through_open_folder,
    "read what was opened without reading": opened_again,
    "read through the root of one's own process": secret("/proc/self/root" + KEY),
    "read through the root of one's thread": secret("/proc/thread-self/root" + KEY),
    "read through the root of another process": secret("/proc/%d/root%s" % (VICTIM, KEY)),
    "read through the folder of another process": secret("/proc/%d/cwd/home/.ssh/id_ed25519" % VICTIM),
    "read through a folder that has moved": moved_folder,
    "read through a link that is swapped": swapped_link,
    "read below a root of one's own": root_of_ones_own,
    "read in namespaces made another way": cloned_then(secret(KEY)),
    "see the names in a hidden folder": lambda: "id_ed25519" in os.listdir(HOME + "/.ssh"),
    "see the names in the daemon's folder": lambda: "token" in os.listdir(STATE + "/private"),
    "see the size of a hidden file": lambda: os.stat(KEY).st_size == 6,
    "watch a hidden file": watched(KEY),
    "be notified of a hidden file": notified,
    # processes
    "see the files of a process": lambda: len(os.readlink("/proc/%d/fd/0" % VICTIM)) > 0,
    "see the folder of a process": lambda: len(os.readlink("/proc/%d/cwd" % VICTIM)) > 0,
    "see the program of a process": lambda: len(os.readlink("/proc/%d/exe" % VICTIM)) > 0,
    "see how the memory of a process is laid out": lambda: len(text("/proc/%d/maps" % VICTIM)) > 0,
    "write the memory of a process": lambda: os.open("/proc/%d/mem" % VICTIM, os.O_WRONLY) > 0,
    "have a process ended first": lambda: open("/proc/%d/oom_score_adj" % VICTIM, "w").write("1000") > 0,
    "change what a process dumps": lambda: open("/proc/%d/coredump_filter" % VICTIM, "w").write("0") > 0,
    "forget what a process has touched": lambda: open("/proc/%d/clear_refs" % VICTIM, "w").write("1") > 0,
    "have the namespaces of a process": namespace_of(VICTIM),
    "have the namespaces of the daemon": namespace_of(DAEMON),
    "have the mounts of a process by its file": namespace_by_pidfd,
    "have the namespace above one's own": namespace_above,
    "signal a process by its file": pidfd_signal,
    "signal a process by its folder": folder_signal,
    "signal a thread": lambda: call(N(234, 131), VICTIM, VICTIM, 0) == 0,
    "signal with a word": lambda: libc.sigqueue(VICTIM, signal.SIGWINCH, 0) == 0,
    "signal the group of a process": fails(lambda: os.killpg(os.getpgid(VICTIM), 0)),
    "end a process by a file's signal": ended_by_a_file,
    "see the locks of a process": lambda: call(N(274, 100), VICTIM, ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)) == 0,
    "compare a process with one's own": lambda: call(N(312, 272), os.getpid(), VICTIM, 1, 0, 0) >= 0,
    "see where the memory of a process lies": lambda: call(N(279, 239), VICTIM, 0, None, None, None, 0) == 0,
    "move the memory of a process": lambda: call(N(256, 238), VICTIM, 8, struct.pack("Q", 1), struct.pack("Q", 1)) >= 0,
    "change a process' scheduler": fails(lambda: os.sched_setscheduler(VICTIM, os.SCHED_BATCH, os.sched_param(0))),
    "change a process' scheduler anew": lambda: call(N(314, 274), VICTIM, struct.pack("IIQiIQQQ", 48, 3, 0, 19, 0, 0, 0, 0), 0) == 0,
    "change a process' priority at the disk": lambda: call(N(251, 30), 1, VICTIM, 3 << 13) == 0,
    "gain by programs of others": lambda: libc.prctl(39, 0, 0, 0, 0) == 0,
    "dump one's memory": limit(resource.RLIMIT_CORE),
    "have more open files than allowed": limit(resource.RLIMIT_NOFILE),
    # sockets and queues
    "send to a socket in the home folder": datagram(HOME + "/letters.sock"),
    "send to an abstract socket": datagram("\0" + P["letters"]),
    "hand a file to a service": handed_over,
    "reach a socket through a link": socket_by_link,
    "reach a socket by another name": socket_by_name,
    "reach a socket through an open file": socket_by_file,
    "make a socket outside": bound_socket,
    "send to a message queue": queue,
    "raise a semaphore": semaphore,
    "open a message queue by its name": posix_queue,
    "listen to the network's frames": lambda: socket.socket(17, socket.SOCK_RAW, 0x300),
    "send packets of one's own making": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "change the network": queue_length_of_lo,
    "take a terminal from its session": terminal_taken,
    # writes
    "write through a file that is open": fails(lambda: os.open("/proc/self/fd/%d" % os.open(NOTES, os.O_RDONLY), os.O_WRONLY)),
    "write through a name of one's own": hard_link_then_write,
    "exchange a file": exchanged,
    "move a file in": fails(lambda: os.rename(NOTES, "moved-in")),
    "make a folder": fails(lambda: os.mkdir(HOME + "/evil-folder")),
    "change a mode through an open file": fails(lambda: os.fchmod(os.open(NOTES, os.O_RDONLY), 0o777)),
    "change a mode by its newest call": lambda: call(452, -100, NOTES.encode(), 0o700, 0) == 0,
    "change times through an open file": fails(lambda: os.utime(os.open(NOTES, os.O_RDONLY), (2, 2))),
    "change attributes by their newest call": lambda: call(463, -100, NOTES.encode(), 0, b"user.evil2", struct.pack("QII", ctypes.addressof(ONE), 1, 0), 16) == 0,
    "change flags of a file": flags_of_a_file,
    "write a branch of git's": written(REPO + "/.git/refs/heads/evil"),
    "write to git's index": can_write(REPO + "/.git/index"),
    "write to the record of the worktree": lambda: written(record() + "/config.worktree")(),
    "write to the settings of git": written(HOME + "/.gitconfig"),
    "write to the settings of claude": written(HOME + "/.claude/settings.json"),
    "write to the login of codex": written(HOME + "/.codex/auth.json"),
    "write to what every program loads": can_write("/etc/ld.so.cache"),
    "write to the list of users": can_write("/etc/passwd"),
    "write to the loader of modules": can_write("/proc/sys/kernel/modprobe"),
    "write to the settings of memory": can_write("/proc/sys/vm/overcommit_memory"),
    "write to the number of namespaces": can_write("/proc/sys/user/max_user_namespaces"),
    "write to the scheduler of a disk": lambda: any(can_write("/sys/block/%s/queue/scheduler" % d)() for d in os.listdir("/sys/block")),
    "write to the helper of devices": can_write("/sys/kernel/uevent_helper"),
    "leave one's group of processes": cgroup_procs,
    # mounts
    "mount in namespaces made another way": cloned_then(bound_over_home),
    "bind in namespaces of one's own": new_ns_then(bound_over_home),
    "share mounts from namespaces of one's own": new_ns_then(lambda: mount(None, "/", None, 16384 | 1 << 20)),
    "open a tree in namespaces of one's own": new_ns_then(lambda: call(428, -100, b"/", 0x8001) >= 0),
    "open a tree with attributes in namespaces of one's own": new_ns_then(lambda: call(467, -100, b"/", 0x8001, struct.pack("QQQQ", 0, 0, 0, 0), 32) >= 0),
    "open a file system in namespaces of one's own": new_ns_then(lambda: call(430, b"tmpfs", 0) >= 0),
    "change mounts in namespaces of one's own": new_ns_then(lambda: call(442, -100, b"/", 0x8000, struct.pack("QQQQ", 2, 0, 0, 0), 32) == 0),
    "exchange the root in namespaces of one's own": new_ns_then(lambda: mount(os.getcwd(), os.getcwd(), None, 4096 | 16384) and os.chdir(os.getcwd()) is None and call(N(155, 41), b".", b".") == 0),
    # the kernel and the machine
    "wake the machine": timer_that_wakes,
    "open a virtual machine": fails(lambda: os.open("/dev/kvm", os.O_RDWR)),
    "open a file system of one's own": fails(lambda: os.open("/dev/fuse", os.O_RDWR)),
    "open a network of one's own": fails(lambda: os.open("/dev/net/tun", os.O_RDWR)),
    "type as a keyboard": fails(lambda: os.open("/dev/uinput", os.O_WRONLY)),
    "read the screen": fails(lambda: os.open("/dev/vcs", os.O_RDONLY)),
    "set the name of the domain": lambda: libc.setdomainname(b"evil", 4) == 0,
}

ONE = ctypes.create_string_buffer(b"1")
