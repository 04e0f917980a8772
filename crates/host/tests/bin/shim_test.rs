//! The shim alone, without the rest of the product: what the tests of this crate start.

use camino::Utf8PathBuf;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let code = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["shim", folder] => dandori_host::shim::main(&Utf8PathBuf::from(*folder)),
        ["shim-exec", folder] => dandori_host::shim::exec_main(&Utf8PathBuf::from(*folder)),
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
        _ => 2,
    };
    std::process::exit(code);
}
