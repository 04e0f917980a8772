//! The real agents, in the versions dandori is tested with, installed by npm when a test first needs them.
//!
//! Versions are pinned in one place: `known_to_work` of a client's description, of which the newest is taken.
//! They are shared by all tests of a target folder and kept there. A test that cannot have them fails: it is never
//! skipped.

#![expect(clippy::panic, reason = "a test that cannot have its agent has failed")]
#![expect(clippy::disallowed_methods, reason = "npm needs the user's own settings, and takes as long as it takes")]

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_domain::client::Program;

/// An earlier Claude Code that is still in use: it lacks tools and settings that the newest has.
const OLDER_CLAUDE: &str = "2.1.197";

/// A package of npm's, in one version.
type Package = (&'static str, &'static str);

/// The library of the Agent Client Protocol as it is, and the last version of it that came with an example agent.
const ACP: [Package; 1] = [("@agentclientprotocol/sdk", "2.4.0")];
const ACP_EXAMPLE: [Package; 1] = [("@agentclientprotocol/sdk", "1.9.0")];

/// The program of a client, in the newest version that is known to work.
pub fn program(client: Client) -> Utf8PathBuf {
    bin().join(client.describe().program.name)
}

/// The earlier Claude Code.
pub fn older_claude() -> Utf8PathBuf {
    let package = Client::Claude.describe().program.package;
    program_in(&installed("agent-clis-older", &[(package, OLDER_CLAUDE)]), Client::Claude)
}

/// The folder for the PATH that has all of them.
pub fn bin() -> Utf8PathBuf {
    let packages = Client::ALL.map(|client| (client.describe().program.package, client.describe().program.newest()));
    let modules = installed("agent-clis", &packages);
    let bin = modules.with_file_name("bin");
    if !bin.is_dir() {
        // Made aside and put in place: many tests come at once.
        let made = modules.with_file_name(format!("bin-{}-{:?}", std::process::id(), std::thread::current().id()));
        fs::create_dir_all(&made).unwrap_or_else(|e| panic!("{made} cannot be made: {e}"));
        for client in Client::ALL {
            let name = client.describe().program.name;
            std::os::unix::fs::symlink(program_in(&modules, client), made.join(name))
                .unwrap_or_else(|e| panic!("{made}: {e}"));
        }
        if fs::rename(&made, &bin).is_err() {
            let _ = fs::remove_dir_all(&made);
        }
    }
    bin
}

/// Where npm has put a client's program.
fn program_in(modules: &Utf8Path, client: Client) -> Utf8PathBuf {
    let Program { name, package, is_per_platform, .. } = &client.describe().program;
    if !is_per_platform {
        return modules.join(".bin").join(name);
    }
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let program = modules.join(format!("{package}-{system}-{machine}/{name}"));
    assert!(program.is_file(), "{program} is not there");
    program
}

/// The modules with the library of the Agent Client Protocol 2.4.0.
pub fn acp_modules() -> Utf8PathBuf {
    installed("acp-sdk", &ACP)
}

/// The example agent of the library of the Agent Client Protocol 1.9.0, for `node`.
pub fn acp_example_agent() -> Utf8PathBuf {
    installed("acp-sdk-example", &ACP_EXAMPLE).join("@agentclientprotocol/sdk/dist/examples/agent.js")
}

/// The modules of a folder, put there when they are not.
fn installed(name: &str, packages: &[Package]) -> Utf8PathBuf {
    let folder = target().join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{folder} cannot be made: {e}"));
    let lock = fs::File::create(folder.join(".lock")).unwrap_or_else(|e| panic!("{folder} cannot be locked: {e}"));
    lock.lock().unwrap_or_else(|e| panic!("{folder} cannot be locked: {e}"));
    if !packages.iter().all(|(package, version)| is_installed(&folder, package, version)) {
        install(&folder, packages);
    }
    folder.join("node_modules")
}

/// Where cargo builds: the agents are as much a product of the tests as the rest of it.
fn target() -> Utf8PathBuf {
    let workspace = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = workspace.canonicalize_utf8().unwrap_or(workspace);
    workspace
        .join(std::env::var("CARGO_TARGET_DIR").ok().filter(|path| !path.is_empty()).as_deref().unwrap_or("target"))
}

fn is_installed(folder: &Utf8Path, package: &str, version: &str) -> bool {
    let description = fs::read(folder.join("node_modules").join(package).join("package.json")).unwrap_or_default();
    let description: serde_json::Value = serde_json::from_slice(&description).unwrap_or_default();
    description.get("version").is_some_and(|v| v == version) && folder.join(".installed").is_file()
}

fn install(folder: &Utf8Path, packages: &[Package]) {
    let _ = fs::remove_file(folder.join(".installed"));
    let _ = fs::remove_dir_all(folder.join("bin"));
    let output = Command::new("npm")
        .args([
            "install",
            "--prefix",
            folder.as_str(),
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--loglevel=warn",
        ])
        .args(packages.iter().map(|(package, version)| format!("{package}@{version}")))
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("npm, which installs the agents for the tests, cannot be started: {e}"));
    assert!(
        output.status.success(),
        "npm could not install the agents:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    // Written last: an install that was broken off is done again.
    fs::write(folder.join(".installed"), "").unwrap_or_else(|e| panic!("{folder} cannot be written: {e}"));
}
