//! Programs in front of another that take something away from it: for machines that have less than this one.

/// As on a machine that lets nobody make namespaces: the call is refused to the program and all it starts.
const WITHOUT_NAMESPACES: &str = r#"
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
unshare = 272 if platform.machine() == "x86_64" else 97
ins = lambda code, t, f, k: struct.pack("HBBI", code, t, f, k)
code = ins(0x20, 0, 0, 0) + ins(0x15, 0, 1, unshare) + ins(0x06, 0, 0, 0x00050001) + ins(0x06, 0, 0, 0x7fff0000)
buf = ctypes.create_string_buffer(code, len(code))
prog = struct.pack("HxxxxxxQ", 4, ctypes.addressof(buf))
if os.geteuid() != 0: libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.create_string_buffer(prog, len(prog)), 0, 0) != 0: sys.exit("no filter")
os.execvp(sys.argv[1], sys.argv[1:])
"#;

/// The words to put in front.
pub fn without_namespaces() -> Vec<String> {
    ["python3", "-c", WITHOUT_NAMESPACES].map(str::to_owned).into()
}

/// As an ordinary user, by a superuser.
pub fn as_user(id: u32) -> Vec<String> {
    let words = [format!("--reuid={id}"), format!("--regid={id}"), "--clear-groups".to_owned(), "--".to_owned()];
    std::iter::once("setpriv".to_owned()).chain(words).collect()
}
