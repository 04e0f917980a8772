//! Real builds behind the fence: warm from the user's caches without a network, and nothing of the caches changes.
//!
//! With namespaces the user has built once, and a run builds offline from a work tree in which nothing is built yet.
//! Without them, and where the user has no cache, a run's caches start empty, by the tools' own variables: a first run fills
//! the layer of its repository, and the next builds offline from that. Registries are folders, served on loopback and closed before what is offline.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::ground::{Ground, Kind, Who, is_root, kinds, own, run};
use crate::shelf::Shelf;

/// How a project is built by its tool; `out/` is what comes of it.
struct Build {
    /// Where the user's caches are, below his home folder.
    caches: &'static [&'static str],
    /// Brings what is missing from the registry.
    cold: String,
    /// Takes everything from the cache.
    warm: String,
    /// What it makes, and what that begins with.
    artefact: (&'static str, &'static [u8]),
}

/// What the user has of it before a run comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cache {
    Filled,
    /// Not even its folder: the tool is told another.
    Missing,
}

/// Puts the project into the repository, and says how it is built.
type Project = fn(&Ground, &Shelf) -> Build;

fn builds_warm(kind: Kind, tool: &str, cache: Cache, project: Project) {
    let mut ground = Ground::new(kind);
    if tool == "cargo" {
        // Wherever this machine keeps its compiler.
        let toolchain = Utf8Path::new(env!("CARGO")).parent().unwrap();
        ground.env.var("PATH", format!("{toolchain}:/usr/local/bin:/usr/bin:/bin"));
    }
    let env = &ground.env;
    let shelf = Shelf::open(&ground.home("shelf"));
    let build = project(&ground, &shelf);
    put(&ground, "cold.sh", &format!("set -ex\n{}\n", build.cold));
    put(&ground, "warm.sh", &format!("set -ex\n{}\n", build.warm));
    put(&ground, ".gitignore", "/.env\n/node_modules\n/target\n/.venv\n");
    commit(&ground);
    let ended = |script: &str| {
        let ended = run(&ground, &format!("exec:sh {script}"));
        let log = env.dandori(["task", "log", ended["id"].as_str().unwrap()]).stdout;
        assert_eq!(ended["state"], "SUCCEEDED", "{kind:?}, {tool}: {ended:#}\n{log}");
        ended
    };
    if cache == Cache::Filled {
        env.command("sh", ["cold.sh"], &env.repo());
        env.git(["clean", "-dffxq"]);
    }
    let before = contents(&ground, build.caches);
    if cache == Cache::Missing || !kind.namespaces {
        ended("cold.sh");
    }
    drop(shelf);
    let warm = ended("warm.sh");
    let made = |file: &str| show(&ground, &warm, &format!("out/{file}"));
    let (name, begins) = build.artefact;
    let artefact = made(name);
    assert!(artefact.len() > 100 && artefact.starts_with(begins), "{kind:?}, {tool}: {name}");
    assert_eq!(String::from_utf8_lossy(&made("said.txt")).trim(), "it works", "{kind:?}, {tool}");
    let after = contents(&ground, build.caches);
    assert!(cache == Cache::Missing || before.len() > 5, "{tool}: the user has filled his cache");
    let differ = before.iter().zip(&after).find(|(a, b)| a != b).map(|(a, b)| (&a.path, &b.path));
    assert!(before == after, "{kind:?}, {tool}: {} and {} files, {differ:?}", before.len(), after.len());
}

/// A file of a cache, byte for byte.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    path: Utf8PathBuf,
    bytes: Vec<u8>,
    mode: u32,
    owner: u32,
    changed: (i64, i64),
}

fn contents(ground: &Ground, caches: &[&str]) -> Vec<Kept> {
    let mut all = Vec::new();
    let mut folders: Vec<Utf8PathBuf> = caches.iter().map(|path| ground.home(path)).filter(|p| p.is_dir()).collect();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap().flatten() {
            let (path, meta) = (entry.path().to_owned(), entry.path().symlink_metadata().unwrap());
            let bytes = match () {
                () if meta.is_dir() => {
                    folders.push(path.clone());
                    Vec::new()
                }
                () if meta.is_file() => std::fs::read(&path).unwrap(),
                () => path.read_link_utf8().map(|to| to.into_string().into_bytes()).unwrap_or_default(),
            };
            let (mode, owner) = (meta.permissions().mode(), meta.uid());
            all.push(Kept { path, bytes, mode, owner, changed: (meta.mtime(), meta.mtime_nsec()) });
        }
    }
    all.sort();
    all
}

/// A file of the project.
fn put(ground: &Ground, name: &str, text: &str) {
    ground.env.write(name, text);
}

fn commit(ground: &Ground) {
    if ground.kind.who == Who::Ordinary {
        own(&ground.env.repo());
        own(&ground.env.home());
    }
    ground.env.git(["add", "-A"]);
    ground.env.git(["commit", "--quiet", "-m", "project"]);
    ground.env.git(["push", "--quiet", "origin", "main"]);
}

/// A file as the run has committed it.
fn show(ground: &Ground, ended: &Value, file: &str) -> Vec<u8> {
    let name = format!("{}:{file}", ended["branch"].as_str().unwrap());
    let shown = ground.env.program("git", ["show", &name], &ground.env.origin()).output().unwrap();
    assert!(shown.status.success(), "{name}: {}", String::from_utf8_lossy(&shown.stderr));
    shown.stdout
}

/// A folder of the user's that is no part of the project: a package before it is published.
fn package(ground: &Ground, files: &[(&str, &str)]) -> Utf8PathBuf {
    let folder = ground.home("package");
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    if ground.kind.who == Who::Ordinary {
        own(&ground.env.home());
    }
    folder
}

fn npm(ground: &Ground, shelf: &Shelf) -> Build {
    let manifest = r#"{"name": "demo-lib", "version": "1.0.0", "main": "index.js"}"#;
    let index = "module.exports = 'it works';\n";
    let folder = package(ground, &[("package.json", manifest), ("index.js", index)]);
    // With a login in it, as users have: the run gets a copy without.
    let (address, host) = (shelf.address(), shelf.address().replace("http:", ""));
    let settings = format!("registry={address}/\n{host}/:_authToken=s3cret\nupdate-notifier=false\n");
    std::fs::write(ground.home(".npmrc"), settings).unwrap();
    let cache = ground.env.root().join("tmp/npm");
    let aside = ["--cache", cache.as_str(), "--no-audit", "--no-fund"];
    let told = ground.env.command("npm", ["pack", "--json"].iter().chain(&aside), &folder);
    let packed: Value = serde_json::from_str(&told).unwrap();
    shelf.put("files/demo-lib-1.0.0.tgz", std::fs::read(folder.join("demo-lib-1.0.0.tgz")).unwrap());
    let dist = json!({"tarball": format!("{address}/files/demo-lib-1.0.0.tgz"), "integrity": packed[0]["integrity"]});
    let version = json!({"name": "demo-lib", "version": "1.0.0", "main": "index.js", "dist": dist});
    let document = json!({"name": "demo-lib", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}});
    shelf.put("demo-lib", document.to_string());
    let project =
        json!({"name": "demo", "version": "1.0.0", "dependencies": {"demo-lib": "1.0.0"}, "files": ["main.js"]});
    put(ground, "package.json", &project.to_string());
    put(ground, "main.js", "console.log(require('demo-lib'));\n");
    if ground.kind.who == Who::Ordinary {
        own(&ground.env.repo());
    }
    let lock = ["install", "--package-lock-only"];
    ground.env.command("npm", lock.iter().chain(&aside), &ground.env.repo());
    let made = "mkdir -p out\nnode main.js > out/said.txt\nnpm pack --offline --pack-destination out";
    Build {
        caches: &[".npm"],
        cold: format!("npm ci --no-audit --no-fund\n{made}"),
        warm: format!("npm ci --offline --no-audit --no-fund\n{made}"),
        artefact: ("demo-1.0.0.tgz", &[0x1f, 0x8b]),
    }
}

fn cargo(ground: &Ground, shelf: &Shelf) -> Build {
    // Not what a real one looks like.
    std::fs::remove_dir_all(ground.home(".cargo/registry")).unwrap();
    let manifest = "[package]\nname = \"demo-lib\"\nversion = \"1.0.0\"\nedition = \"2021\"\ndescription = \"d\"\nlicense = \"MIT\"\n";
    let code = "pub fn said() -> &'static str { \"it works\" }\n";
    let folder = package(ground, &[("Cargo.toml", manifest), ("src/lib.rs", code)]);
    let line = ["package", "--offline", "--no-verify", "--quiet", "--target-dir", "packed"];
    ground.env.command("cargo", line, &folder);
    let packed = std::fs::read(folder.join("packed/package/demo-lib-1.0.0.crate")).unwrap();
    let sum = format!("{:x}", Sha256::digest(&packed));
    shelf.put("files/demo-lib-1.0.0.crate", packed);
    let address = shelf.address();
    shelf.put("config.json", json!({"dl": format!("{address}/files/{{crate}}-{{version}}.crate")}).to_string());
    let entry = json!({"name": "demo-lib", "vers": "1.0.0", "deps": [], "cksum": sum, "features": {}, "yanked": false});
    shelf.put("de/mo/demo-lib", format!("{entry}\n"));
    let own_registry =
        format!("[source.crates-io]\nreplace-with = \"shelf\"\n[source.shelf]\nregistry = \"sparse+{address}/\"\n");
    put(ground, ".cargo/config.toml", &own_registry);
    let manifest = "[package]\nname = \"demo\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\ndemo-lib = \"1\"\n[profile.dev]\ndebug = false\n";
    put(ground, "Cargo.toml", manifest);
    put(ground, "src/main.rs", "fn main() { println!(\"{}\", demo_lib::said()); }\n");
    let made = "mkdir -p out\ncp target/debug/demo out/\nout/demo > out/said.txt";
    Build {
        caches: &[".cargo"],
        // Fetched, not unpacked yet: the run has to write into what it reads.
        cold: format!("cargo build\n{made}\nrm -r \"${{CARGO_HOME:-$HOME/.cargo}}/registry/src\""),
        warm: format!("cargo build --offline\n{made}"),
        artefact: ("demo", b"\x7fELF"),
    }
}

/// A package with a build of its own, which says when it is built anew.
const BACKEND: &str = r#"
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    if os.environ.get("WARM"): raise SystemExit("not from the cache")
    about = "demo_lib-1.0.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, "demo_lib-1.0-py3-none-any.whl"), "w") as z:
        z.writestr("demo_lib.py", "print('it works')\n")
        z.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: demo-lib\nVersion: 1.0\n")
        z.writestr(about + "WHEEL", "Wheel-Version: 1.0\nGenerator: demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(about + "RECORD", "".join(n + ",,\n" for n in ("demo_lib.py", about + "METADATA", about + "WHEEL", about + "RECORD")))
    return "demo_lib-1.0-py3-none-any.whl"
"#;

fn pip(ground: &Ground, shelf: &Shelf) -> Build {
    let manifest = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n[project]\nname = \"demo-lib\"\nversion = \"1.0\"\n";
    let folder = package(ground, &[("demo_lib-1.0/pyproject.toml", manifest), ("demo_lib-1.0/backend.py", BACKEND)]);
    ground.env.command("tar", ["czf", "demo_lib-1.0.tar.gz", "demo_lib-1.0"], &folder);
    shelf.put("demo_lib-1.0.tar.gz", std::fs::read(folder.join("demo_lib-1.0.tar.gz")).unwrap());
    // Not what is configured for the machine these tests run on.
    let settings = "export PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1";
    let made = format!(
        "python3 -m venv --without-pip .venv\npip3 wheel --find-links {} -w out demo-lib==1.0\n\
         pip3 --python .venv/bin/python install --find-links out demo-lib\n.venv/bin/python -m demo_lib > out/said.txt",
        ground.home("shelf")
    );
    Build {
        caches: &[".cache"],
        cold: format!("{settings}\n{made}"),
        warm: format!("{settings} WARM=1\n{made}"),
        artefact: ("demo_lib-1.0-py3-none-any.whl", b"PK"),
    }
}

fn go(ground: &Ground, shelf: &Shelf) -> Build {
    let code = "package lib\n\nfunc Said() string { return \"it works\" }\n";
    let (top, manifest) = ("example.test/lib@v1.0.0", "module example.test/lib\n\ngo 1.19\n");
    let files = [(format!("{top}/go.mod"), manifest), (format!("{top}/lib.go"), code)];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = package(ground, &files);
    // Files alone: folders of their own are more than go takes.
    let zip = format!(
        "import zipfile as z\nf = z.ZipFile('lib.zip', 'w')\nfor n in ('go.mod', 'lib.go'): f.write('{top}/' + n)\nf.close()"
    );
    ground.env.command("python3", ["-c", &zip], &folder);
    let zip = std::fs::read(folder.join("lib.zip")).unwrap();
    shelf.put("example.test/lib/@v/list", "v1.0.0\n");
    shelf.put("example.test/lib/@v/v1.0.0.info", r#"{"Version":"v1.0.0","Time":"2024-01-01T00:00:00Z"}"#);
    shelf.put("example.test/lib/@v/v1.0.0.mod", manifest);
    shelf.put("example.test/lib/@v/v1.0.0.zip", zip);
    put(ground, "go.mod", "module example.test/demo\n\ngo 1.19\n\nrequire example.test/lib v1.0.0\n");
    let code = "package main\n\nimport (\n\t\"example.test/lib\"\n\t\"os\"\n)\n\nfunc main() { os.Stdout.WriteString(lib.Said()) }\n";
    put(ground, "main.go", code);
    // What is in the module cache is the user's to remove.
    let settings = "export GOFLAGS='-mod=mod -modcacherw' GOSUMDB=off CGO_ENABLED=0";
    let made = "go build -o out/demo .\nout/demo > out/said.txt";
    // The run has to unpack it: to write into what it reads.
    let packed_again = "rm -r \"$(go env GOMODCACHE)/example.test\"";
    Build {
        caches: &["go", ".cache"],
        cold: format!("{settings} GOPROXY=file://{}\n{made}\n{packed_again}", ground.home("shelf")),
        warm: format!("{settings} GOPROXY=off\n{made}"),
        artefact: ("demo", b"\x7fELF"),
    }
}

/// Debian's own repository of what Maven is made of; the newest of a plugin there is the one with a program.
const MAVEN: &str = "/usr/share/maven-repo";

fn maven(ground: &Ground, _: &Shelf) -> Build {
    let plugin = |name: &str| {
        let artefact = format!("maven-{name}-plugin");
        let versions = Utf8Path::new(MAVEN).join("org/apache/maven/plugins").join(&artefact);
        let mut found = versions.read_dir_utf8().unwrap_or_else(|e| panic!("{versions}: {e}")).flatten();
        let version = |entry: camino::Utf8DirEntry| {
            let version = entry.file_name().to_owned();
            entry.path().join(format!("{artefact}-{version}.jar")).is_file().then_some(version)
        };
        let version = found.find_map(version).unwrap_or_else(|| panic!("{versions}: no jar"));
        format!("<plugin><artifactId>{artefact}</artifactId><version>{version}</version></plugin>")
    };
    let plugins = ["compiler", "resources", "jar"].map(plugin).concat();
    // Its tests would need much more from Debian.
    let no_tests = "<plugin><artifactId>maven-surefire-plugin</artifactId><version>1</version><executions><execution>\
                    <id>default-test</id><phase>none</phase></execution></executions></plugin>";
    let pom = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>test.example</groupId><artifactId>demo</artifactId>\
         <version>1.0</version><properties><maven.compiler.source>8</maven.compiler.source>\
         <maven.compiler.target>8</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>\
         </properties><build><plugins>{plugins}{no_tests}</plugins></build></project>"
    );
    put(ground, "pom.xml", &pom);
    let code = "public class Demo { public static void main(String[] a) { System.out.println(\"it works\"); } }\n";
    put(ground, "src/main/java/Demo.java", code);
    let settings = format!(
        "<settings><mirrors><mirror><id>debian</id><url>file://{MAVEN}</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>"
    );
    std::fs::create_dir_all(ground.home(".m2")).unwrap();
    std::fs::write(ground.home(".m2/settings.xml"), settings).unwrap();
    // Java takes the home folder from the list of users, where nobody here has this one.
    let line = "MAVEN_OPTS=\"$MAVEN_OPTS -Duser.home=$HOME\" mvn -B -q -s $HOME/.m2/settings.xml";
    let made = "mkdir -p out\ncp target/demo-1.0.jar out/\njava -cp out/demo-1.0.jar Demo > out/said.txt";
    Build {
        caches: &[".m2"],
        cold: format!("{line} package\n{made}"),
        warm: format!("{line} -o package\n{made}"),
        artefact: ("demo-1.0.jar", b"PK"),
    }
}

/// With namespaces for everybody, without them for whoever is no superuser if there are two.
fn on_all_kinds(tool: &str, project: Project) {
    for kind in kinds().into_iter().filter(|kind| kind.namespaces || !is_root() || kind.who == Who::Ordinary) {
        let cache = if kind.namespaces { Cache::Filled } else { Cache::Missing };
        builds_warm(kind, tool, cache, project);
    }
}

#[test]
fn npm_builds_offline_from_the_user_s_cache() {
    on_all_kinds("npm", npm);
}

/// As whoever runs the tests: the compiler is in his home folder, where nobody else finds it.
#[test]
fn cargo_builds_offline_from_the_user_s_registry() {
    for kind in kinds().into_iter().filter(|kind| kind.who == Who::Self_) {
        builds_warm(kind, "cargo", Cache::Filled, cargo);
    }
}

#[test]
fn pip_installs_offline_from_the_user_s_wheels() {
    on_all_kinds("pip", pip);
}

#[test]
fn go_builds_offline_from_the_user_s_modules() {
    on_all_kinds("go", go);
    builds_warm(Kind { who: Who::Self_, namespaces: true }, "go", Cache::Missing, go);
}

#[test]
fn maven_builds_offline_from_the_user_s_repository() {
    on_all_kinds("maven", maven);
}
