//! What the checks need beyond Rust: git, node with npm, a PostgreSQL server to start, gh and a keyring to ask, and for
//! builds behind the fence pip, Go, Maven with its plugins, and a browser.

use std::path::Path;
use std::process::{Command, Stdio};

/// A program, or a file or folder by its path, and the Debian package that brings it.
const NEEDS: &[(&str, &str)] = &[
    ("git", "git"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3"),
    // For the spelling.
    ("pip3", "python3-pip"),
    ("tmux", "tmux"),
    ("ssh-agent", "openssh-client"),
    ("script", "bsdutils"),
    ("initdb", "postgresql"),
    ("setsid", "util-linux"),
    ("gh", "gh"),
    ("dbus-run-session", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
    ("secret-tool", "libsecret-tools"),
    ("go", "golang-go"),
    ("javac", "default-jdk-headless"),
    ("mvn", "maven"),
    ("/usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin", "libmaven-compiler-plugin-java"),
    ("/usr/share/maven-repo/org/apache/maven/plugins/maven-resources-plugin", "libmaven-resources-plugin-java"),
    ("/usr/share/maven-repo/org/apache/maven/plugins/maven-jar-plugin", "libmaven-jar-plugin-java"),
    // The compiler plugin wants to read it; its package does not bring it.
    ("/usr/share/maven-repo/org/junit/junit-bom", "junit5"),
    ("chromium", "chromium"),
];

pub(crate) fn install() -> Result<(), String> {
    let missing: Vec<(&str, &str)> = NEEDS.iter().copied().filter(|(program, _)| !is_there(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    println!("── installing {}", packages.join(" "));
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(&packages);
    let done = apt(&["update"]) && apt(&install);
    let still: Vec<&str> = missing.iter().map(|(program, _)| *program).filter(|p| !is_there(p)).collect();
    if done && still.is_empty() {
        return Ok(());
    }
    Err(format!("the tests need {}: install {}", still.join(", "), packages.join(", ")))
}

fn is_there(program: &str) -> bool {
    if program.starts_with('/') {
        return Path::new(program).exists();
    }
    let on_path =
        std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|d| d.join(program).is_file()));
    // Debian keeps the server's programs off the PATH.
    on_path
        || std::fs::read_dir("/usr/lib/postgresql")
            .is_ok_and(|versions| versions.flatten().any(|v| Path::new(&v.path()).join("bin").join(program).is_file()))
}
