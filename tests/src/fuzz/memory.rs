//! What a process takes of the machine: resident memory, its peak, and time of the processor. Nothing is known where
//! there is no `/proc`.

use std::time::Duration;

/// The process whose memory counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// This one.
    Own,
    /// Another one, by its number.
    Other(u32),
}

impl Process {
    fn file(self, name: &str) -> String {
        match self {
            Process::Own => format!("/proc/self/{name}"),
            Process::Other(number) => format!("/proc/{number}/{name}"),
        }
    }

    /// The most bytes that were resident since the last [`Process::forget_peak`].
    pub fn peak(self) -> u64 {
        let status = std::fs::read_to_string(self.file("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) << 10
    }

    /// Lets the peak begin anew at what is resident now.
    pub fn forget_peak(self) {
        let _ = std::fs::write(self.file("clear_refs"), "5");
    }
}

/// Time that the processor has spent on this thread.
pub fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let all = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    all.map_or(Duration::ZERO, Duration::from_nanos)
}

/// Forbids this process more than so many bytes of memory of its own: what asks for more is ended.
pub fn limit(bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
