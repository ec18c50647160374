//! The process group that a child leads, with all that it starts.

use std::process::{Child, Command};

/// Makes the process that a command starts the leader of a group; on systems without groups nothing.
pub(crate) fn lead_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Ends the group of a child, with `kill` by the signal that cannot be caught; on systems without groups the child alone,
/// which can only be killed there.
pub(crate) fn end_group(child: &mut Child, kill: bool) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if kill { Signal::KILL } else { Signal::TERM };
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, signal);
        }
    }
    #[cfg(not(unix))]
    if kill {
        let _ = child.kill();
    }
}
