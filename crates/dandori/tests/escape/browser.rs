//! A browser behind the fence: agents look at what they build.

use crate::ground::{Ground, kinds, run};

/// Serves a page on loopback, has it rendered, and keeps the picture.
const BROWSE: &str = r#"
import http.server, os, subprocess, sys, threading

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<body style='margin:0;background:#fff'><script>document.body.style.background='#00f'</script></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
line = ["chromium", "--headless", *sys.argv[1:], "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--user-data-dir=" + os.path.join(os.environ["TMPDIR"], "profile"), "--window-size=320,240",
        "--screenshot=" + os.path.abspath("picture.png"), "http://127.0.0.1:%d/" % server.server_port]
sys.exit(subprocess.run(line, timeout=80).returncode)
"#;

/// Of a picture: a filter does nothing to it, there is none before it.
const FIRST_PIXEL: &str = r#"
import struct, sys, zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
    at += size + 12
print(zlib.decompress(packed)[1:4].hex())
"#;

#[test]
fn a_browser_renders_a_page_of_the_run_s_own_server() {
    for kind in kinds() {
        let ground = Ground::new(kind);
        ground.plant("browse.py", BROWSE);
        // Its own fence stands inside ours, where there are namespaces for it; it makes none for a superuser.
        let own_fence = if kind.namespaces && ground.uid != 0 { "" } else { " --no-sandbox" };
        let ended = run(&ground, &format!("exec:python3 browse.py{own_fence}"));
        let log = ground.env.dandori(["task", "log", "T-1"]).stdout;
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}: {ended:#}\n{log}");
        let name = format!("{}:picture.png", ended["branch"].as_str().unwrap());
        let shown = ground.env.program("git", ["show", &name], &ground.env.origin()).output().unwrap();
        let picture = shown.stdout;
        assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{kind:?}: {log}");
        let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (320, 240), "{kind:?}");
        // The page's script has painted it.
        let file = ground.env.root().join("tmp/picture.png");
        std::fs::write(&file, picture).unwrap();
        let pixel = ground.env.command("python3", ["-c", FIRST_PIXEL, file.as_str()], ground.env.root());
        assert_eq!(pixel, "0000ff", "{kind:?}");
    }
}
