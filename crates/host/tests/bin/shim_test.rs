//! The shim alone, without the rest of the product: what the tests of this crate start.

use camino::Utf8PathBuf;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let code = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["shim", folder] => dandori_host::shim::main(&Utf8PathBuf::from(*folder)),
        ["fenced", stage] => dandori_host::fenced::stage_main(stage),
        ["fence"] => dandori_host::fenced::command_main(&dandori_host::Env::of_process()),
        ["fence-probe"] => dandori_host::fenced::probe_main(),
        // A daemon that dies right after the launch.
        ["launch-and-die", folder, order] => {
            let order = std::fs::read(order).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let program = std::env::current_exe().ok().and_then(|p| Utf8PathBuf::from_path_buf(p).ok());
            match (order, program) {
                (Some(order), Some(program)) => {
                    let env = dandori_host::Env::default();
                    let started = dandori_host::shim::launch(&Utf8PathBuf::from(*folder), &order, &program, &env);
                    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                    i32::from(started.is_err())
                }
                _ => 2,
            }
        }
        ["without-namespaces", program, arguments @ ..] => without_namespaces(program, arguments),
        _ => 2,
    };
    std::process::exit(code);
}

/// As on a machine that lets nobody make namespaces: for this process and all it starts.
#[expect(clippy::disallowed_methods, reason = "this process becomes the program")]
fn without_namespaces(program: &str, arguments: &[&str]) -> i32 {
    use std::os::unix::process::CommandExt;
    let rules = [(libc::SYS_unshare, Vec::new())].into_iter().collect();
    let refused = seccompiler::SeccompAction::Errno(1);
    let arch = std::env::consts::ARCH.try_into();
    let filter = arch.and_then(|arch| {
        seccompiler::SeccompFilter::new(rules, seccompiler::SeccompAction::Allow, refused, arch)?.try_into()
    });
    let filter: Result<seccompiler::BpfProgram, _> = filter;
    match filter.map(|filter| seccompiler::apply_filter(&filter)) {
        Ok(Ok(())) => drop(std::process::Command::new(program).args(arguments).exec()),
        _ => return 3,
    }
    4
}
