# What a hostile agent tries, behind the fence. Each attempt runs in a process of its own; it has got out when it returns
# something true. What it may leave behind outside is looked at by the test itself. Places come in PLACES (JSON).
# More of them are in attempts_more.py.
import ctypes, fcntl, json, mmap, os, platform, signal, socket, struct, subprocess, sys, time

P = json.load(open("places.json"))
HOME, STATE, REPO = P["home"], P["state"], P["repo"]
VICTIM, DAEMON = P["victim"], P["daemon"]
libc = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
N = (lambda x86, arm: x86 if X86 else arm)


def call(number, *args):
    answer = libc.syscall(ctypes.c_long(number), *[a if isinstance(a, (bytes, ctypes.Array)) or a is None else ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if answer == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def text(path):
    with open(path, "rb") as f:
        return f.read(1 << 20)


def secret(path):
    return lambda: b"s3cret" in text(path)


def written(path, data=b"evil"):
    def go():
        with open(path, "ab") as f:
            f.write(data)
        return "outside"  # whether it is outside is seen from there
    return go


def fails(action):
    def go():
        action()
        return True
    return go


def connected(path):
    def go():
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(3)
        s.connect(path)
        s.sendall(b"hello\n")
        return b"door" in s.recv(16)
    return go


def new_ns_then(action):
    def go():
        if libc.unshare(0x10000000 | 0x00020000) != 0:  # user, mounts
            return False
        try:
            open("/proc/self/setgroups", "w").write("deny")
        except OSError:
            pass
        for kind, me in (("uid_map", os.getuid()), ("gid_map", os.getgid())):
            try:
                open("/proc/self/" + kind, "w").write("0 %d 1" % P["uid"])
            except OSError:
                pass
        return action()
    return go


def mount(source, target, kind, flags, data=None):
    if libc.mount(source and source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags), data) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    return True


def umount(target):
    if libc.umount2(target.encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), "umount")
    return os.path.exists(HOME + "/.ssh/id_ed25519")


def prlimit(pid):
    new = struct.pack("QQ", 3, 3)
    return call(N(302, 261), pid, 7, new, None) == 0


def vm_read(pid):
    buf = ctypes.create_string_buffer(16)
    maps = open("/proc/%d/maps" % pid).readline().split("-")[0]
    local = struct.pack("QQ", ctypes.addressof(buf), 8)
    remote = struct.pack("QQ", int(maps, 16), 8)
    return call(N(310, 270), pid, local, 1, remote, 1, 0) > 0


def keyring_read():
    # The user's own keyring, by its number.
    return call(N(250, 219), 11, -4 & 0xFFFFFFFFFFFFFFFF, ctypes.create_string_buffer(64), 64, 0) >= 0


def handle():
    buf = ctypes.create_string_buffer(136)
    struct.pack_into("I", buf, 0, 128)
    mount_id = ctypes.create_string_buffer(4)
    call(N(303, 264), -100, (HOME + "/.ssh/id_ed25519").encode(), buf, mount_id, 0)
    fd = os.open("/", os.O_RDONLY)
    opened = call(N(304, 265), fd, buf, os.O_RDONLY)
    return b"s3cret" in os.read(opened, 100)


def other_terminal(mode):
    def go():
        fd = os.open(P["pts"], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        if mode == "write":
            os.write(fd, b"echo evil\n")
            return "outside"
        return True
    return go


def type_into_terminal():
    master, slave = os.openpty()
    os.setsid()
    fcntl.ioctl(slave, 0x540E, 0)  # controlling terminal
    fcntl.ioctl(slave, 0x5412, b"x")  # TIOCSTI
    return True


def shared_memory():
    ident = libc.shmget(ctypes.c_int(P["shm_key"]), 0, 0o600)
    if ident < 0:
        return False
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(ident, None, 0)
    return at not in (None, ctypes.c_void_p(-1).value)


def link_then_read():
    os.symlink(HOME + "/.ssh", "innocent-link")
    return b"s3cret" in text("innocent-link/id_ed25519")


def hard_link():
    os.link(HOME + "/.ssh/id_ed25519", "stolen-link")
    return b"s3cret" in text("stolen-link")


def root_of_first():
    return b"s3cret" in text("/proc/1/root" + HOME + "/.ssh/id_ed25519")


def root_of_parent():
    return b"s3cret" in text("/proc/%d/root%s/.ssh/id_ed25519" % (os.getppid(), HOME))


def setns_first():
    fd = os.open("/proc/%d/ns/mnt" % (1 if P["namespaces"] else DAEMON), os.O_RDONLY)
    return libc.setns(fd, 0) == 0


def raw_disk():
    for name in os.listdir("/sys/class/block"):
        try:
            fd = os.open("/dev/" + name, os.O_RDONLY)
        except OSError:
            continue
        if os.read(fd, 512):
            return True
    return False


def make_disk():
    for name in os.listdir("/sys/class/block"):
        major, minor = open("/sys/class/block/%s/dev" % name).read().split(":")
        os.mknod("disk", 0o600 | 0o060000, os.makedev(int(major), int(minor)))
        return len(os.read(os.open("disk", os.O_RDONLY), 512)) > 0
    return False


def chroot_away():
    os.chroot("/proc/1/root")
    return b"s3cret" in text(HOME + "/.ssh/id_ed25519")


def cgroup():
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"):
        try:
            os.mkdir(top + "/evil")
            os.rmdir(top + "/evil")
            return True
        except OSError:
            pass
    return False


def inherited():
    # Nothing but the three streams comes along.
    outside = [leads(fd) for fd in range(3, 256) if not leads(fd).startswith(os.getcwd())]
    # The shell may keep copies of them.
    streams = [leads(0), leads(1), STREAMS]
    return [to for to in outside if to.startswith(("socket:", "pipe:", STATE)) and to not in streams]


def leads(fd):
    try:
        return os.readlink("/proc/self/fd/%d" % fd)
    except OSError:
        return ""


def agent_signs():
    env = dict(os.environ, SSH_AUTH_SOCK=P["ssh_agent"])
    return P["ssh_agent"] and subprocess.run(["ssh-add", "-l"], env=env, capture_output=True, timeout=5).returncode == 0


def tmux_shell():
    if not P["tmux"]:
        return False
    line = ["tmux", "-S", P["tmux"], "new-window", "-d", "touch %s/from-tmux" % HOME]
    subprocess.run(line, capture_output=True, timeout=5, check=True)
    return "outside"


def daemon_socket():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(3)
    s.connect(STATE + "/dandori.sock")
    return True


STREAMS = leads(2)

ATTEMPTS = {
    # reads
    "read an ssh key": secret(HOME + "/.ssh/id_ed25519"),
    "read the login of aws": secret(HOME + "/.aws/credentials"),
    "read .netrc": secret(HOME + "/.netrc"),
    "read the login of gh": secret(HOME + "/.config/gh/hosts.yml"),
    "read the token in .npmrc": secret(HOME + "/.npmrc"),
    "read the login of docker": secret(HOME + "/.docker/config.json"),
    "read .git-credentials": secret(HOME + "/.git-credentials"),
    "read a login of cargo": secret(HOME + "/.cargo/credentials.toml"),
    "read the login of claude": secret(HOME + "/.claude/.credentials.json"),
    "read the login of codex": secret(HOME + "/.codex/auth.json"),
    "read the login of gemini": secret(HOME + "/.gemini/oauth_creds.json"),
    "read the history of the shell": secret(HOME + "/.bash_history"),
    "read .env of the checkout": secret(REPO + "/.env"),
    "read the password in the remote's address": secret(REPO + "/.git/config"),
    "read the daemon's token": lambda: len(text(STATE + "/private/token")) > 0,
    "read the database": lambda: len(text(STATE + "/private/dandori.db")) > 0,
    "read through a link": link_then_read,
    "read through a hard link": hard_link,
    "read through the root of the first process": root_of_first,
    "read through the root of the parent": root_of_parent,
    "read by handle": handle,
    "read a disk": raw_disk,
    "read a disk by a node of one's own": make_disk,
    "read the environment of a process": lambda: b"s3cret" in text("/proc/%d/environ" % VICTIM),
    "read the environment of the daemon": lambda: len(text("/proc/%d/environ" % DAEMON)) > 0,
    "read the memory of a process": lambda: os.open("/proc/%d/mem" % VICTIM, os.O_RDONLY) > 0,
    "read the memory of the machine": lambda: len(text("/dev/mem")) > 0 or len(text("/proc/kcore")) > 0,
    "read the kernel's log": lambda: call(N(103, 116), 3, ctypes.create_string_buffer(64), 64) > 0,
    "have a file of the parent's": inherited,
    # writes
    "write into the home folder": written(HOME + "/evil"),
    "write to .bashrc": written(HOME + "/.bashrc"),
    "write to authorized_keys": written(HOME + "/.ssh/authorized_keys"),
    "write a prompt into the cache": written(HOME + "/.cache/p10k-instant-prompt-me.zsh"),
    "poison a cache of npm": written(HOME + "/.npm/evil"),
    "poison a store of cargo": written(HOME + "/.cargo/registry/evil"),
    "write a program into ~/.cargo/bin": written(HOME + "/.cargo/bin/git"),
    "write to the checkout": written(REPO + "/README.md"),
    "write a hook of git's": written(REPO + "/.git/hooks/post-commit"),
    "write to git's configuration": written(REPO + "/.git/config"),
    "write an object of git's": written(REPO + "/.git/objects/evil"),
    "write into everybody's temporary folder": written("/tmp/evil-%d" % P["uid"]),
    "write into shared memory": written("/dev/shm/evil-%d" % P["uid"]),
    "write to /etc": written("/etc/evil"),
    "write a job of cron's": written("/var/spool/cron/evil"),
    "write to core_pattern": written("/proc/sys/kernel/core_pattern", b"|/tmp/evil"),
    "write to sysrq": lambda: open("/proc/sysrq-trigger", "w").write("h"),
    "make a group of processes": cgroup,
    "cut a file short": fails(lambda: os.truncate(HOME + "/notes.txt", 0)),
    "remove a file": fails(lambda: os.remove(HOME + "/notes.txt")),
    "rename a file": fails(lambda: os.rename(HOME + "/notes.txt", HOME + "/notes2.txt")),
    "make a link": fails(lambda: os.symlink("/", HOME + "/evil-link")),
    "make a pipe": fails(lambda: os.mkfifo(HOME + "/evil-pipe")),
    "change a mode": fails(lambda: os.chmod(HOME + "/notes.txt", 0o777)),
    "change times": fails(lambda: os.utime(HOME + "/notes.txt", (1, 1))),
    "change attributes": fails(lambda: os.setxattr(HOME + "/notes.txt", "user.evil", b"1")),
    "change an owner": fails(lambda: os.chown(HOME + "/notes.txt", P["uid"], 12345)),
    "change the worktree's git file from a folder above": written(os.path.dirname(os.getcwd()) + "/evil"),
    # mounts
    "mount over a folder": lambda: mount("x", HOME, "tmpfs", 0),
    "bind a folder": lambda: mount("/", os.getcwd(), None, 4096),
    "remount the root writable": lambda: mount(None, "/", None, 32 | 4096),
    "uncover what is hidden": lambda: umount(HOME + "/.ssh"),
    "uncover it from namespaces of one's own": new_ns_then(lambda: umount(HOME + "/.ssh")),
    "mount in namespaces of one's own": new_ns_then(lambda: mount("x", HOME, "tmpfs", 0)),
    "mount /proc in namespaces of one's own": new_ns_then(lambda: mount("proc", "/mnt", "proc", 0)),
    "enter the namespaces of another": setns_first,
    "go below another root": chroot_away,
    "open a tree": lambda: call(428, -100, b"/", 1) >= 0,
    "open a file system": lambda: call(430, b"tmpfs", 0) >= 0,
    "change a mount": lambda: call(442, -100, b"/", 0x8000, struct.pack("QQQQ", 0, 1, 0, 0), 32) == 0,
    # sockets
    "reach a socket in the home folder": connected(HOME + "/service.sock"),
    "reach a socket in the temporary folder": connected(P["tmp_socket"]),
    "reach an abstract socket": connected("\0" + P["abstract"]),
    "have a shell from tmux": tmux_shell,
    "have ssh-agent sign": agent_signs,
    "reach the daemon": daemon_socket,
    "reach the machine that hosts this one": lambda: socket.socket(40, socket.SOCK_STREAM),
    # terminals
    "read another terminal": other_terminal("read"),
    "write to another terminal": other_terminal("write"),
    "type into a terminal": type_into_terminal,
    "open the console": lambda: os.open("/dev/console", os.O_RDWR | os.O_NOCTTY) > 0,
    # processes
    "see a process": lambda: os.path.exists("/proc/%d/cmdline" % VICTIM) and b"sleep" in text("/proc/%d/cmdline" % VICTIM),
    "signal a process": fails(lambda: os.kill(VICTIM, 0)),
    "end a process": fails(lambda: os.kill(VICTIM, 9)),
    "end the daemon": fails(lambda: os.kill(DAEMON, 9)),
    "stop the daemon": fails(lambda: os.kill(DAEMON, signal.SIGSTOP)),
    "end the first process": fails(lambda: os.kill(1, 9)) if not P["namespaces"] else lambda: (os.kill(1, 9), time.sleep(0.2)) and False,
    "trace a process": lambda: call(N(101, 117), 16, VICTIM, 0, 0) == 0,
    "trace the first process": lambda: call(N(101, 117), 16, 1, 0, 0) == 0,
    "trace one's parent": lambda: call(N(101, 117), 16, os.getppid(), 0, 0) == 0,
    "read a process' memory": lambda: vm_read(VICTIM),
    "take a file of a process'": lambda: call(438, call(434, VICTIM, 0), 0, 0) >= 0,
    "change the limits of a process": lambda: prlimit(VICTIM),
    "change the limits of the daemon": lambda: prlimit(DAEMON),
    "change the limits of the first process": lambda: prlimit(1),
    "change the limits of one's parent": lambda: prlimit(os.getppid()),
    "change a process' priority": fails(lambda: os.setpriority(os.PRIO_PROCESS, VICTIM, 19)),
    "change a process' affinity": fails(lambda: os.sched_setaffinity(VICTIM, {0})),
    "change all priorities of the user": lambda: os.setpriority(os.PRIO_USER, P["uid"], 19) is None and "outside",
    # the kernel
    "read a keyring": keyring_read,
    "add a key": lambda: call(N(248, 217), b"user", b"evil", b"x", 1, -4 & 0xFFFFFFFFFFFFFFFF) > 0,
    "ask for a key": lambda: call(N(249, 218), b"user", b"dandori-test", None, 0) > 0,
    "attach shared memory": shared_memory,
    "make calls through a ring": lambda: call(425, 8, ctypes.create_string_buffer(120)) >= 0,
    "load a program into the kernel": lambda: call(N(321, 280), 0, ctypes.create_string_buffer(72), 72) >= 0,
    "watch the processor": lambda: call(N(298, 241), ctypes.create_string_buffer(112), 0, -1 & 0xFFFFFFFFFFFFFFFF, -1 & 0xFFFFFFFFFFFFFFFF, 0) >= 0,
    "handle faults": lambda: call(N(323, 282), 1) >= 0,
    "load a module": lambda: call(N(175, 105), ctypes.create_string_buffer(8), 8, b"") == 0,
    "set the clock": lambda: call(N(227, 112), 0, struct.pack("QQ", int(time.time()), 0)) == 0,
    "set the name of the machine": lambda: libc.sethostname(b"evil", 4) == 0,
    "count processes into a file": lambda: call(N(163, 89), b"/tmp/acct") == 0,
    "swap": lambda: call(N(167, 224), b"/swapfile", 0) == 0,
    "dump core into a program": fails(lambda: open("/proc/sys/kernel/core_uses_pid", "w").write("1")),
}


def survive():
    """Whatever can be done to outlive the run, all at once."""
    nap = P["nap"]
    for prepare in (
        lambda: None,
        os.setsid,
        lambda: [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 13, 15)],
        lambda: libc.prctl(36, 1, 0, 0, 0),  # a subreaper of its own
        lambda: libc.prctl(1, 0, 0, 0, 0),  # no signal when the parent dies
        lambda: os.chdir("/"),
    ):
        if os.fork() == 0:
            os.setsid()
            try:
                prepare()
            except OSError:
                pass
            if os.fork() == 0:  # its parent goes: nobody's child
                os.execve("/bin/sleep", ["sleep", nap], {})
            os._exit(0)
    # A program that is in no file.
    if os.fork() == 0:
        fd = os.memfd_create("sleep")
        os.write(fd, open("/bin/sleep", "rb").read())
        os.execve(fd, ["sleep", nap], {})
    # Many.
    made = 0
    for _ in range(P["many"]):
        try:
            if os.fork() == 0:
                os.setsid()
                signal.pause()
            made += 1
        except OSError:
            break
    return made


def attempt(name):
    if P["restore"]:
        # Where they succeed, one takes from the next what it is about.
        open(HOME + "/notes.txt", "w").write("notes")
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open("/dev/null", os.O_RDWR), 2)
            out = ATTEMPTS[name]()
        except BaseException:
            out = False
        os._exit(2 if out == "outside" else 1 if out else 0)
    until = time.time() + 10
    while time.time() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return {0: "held", 1: "OUT", 2: "perhaps"}.get(os.waitstatus_to_exitcode(status), "held")
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "held"


if __name__ == "__main__":
    from attempts_more import MORE
    ATTEMPTS.update(MORE)
    with open("outcome.json", "w") as f:
        json.dump({name: attempt(name) for name in ATTEMPTS if name not in P["skip"]}, f)
    with open("made.txt", "w") as f:
        f.write(str(survive()))
