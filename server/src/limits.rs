//! The limits of this crate: what they bound, how much that is, and what happens when one is met.

use std::time::Duration;

base::limits! { "server":
    mod client {
        /// How long the client may take to answer a question to the user.
        QUESTION: Duration = Duration::from_secs(10), Time, Waited;
    }

    mod shown {
        /// Steps of a run without a finding that an editor goes through.
        RUN_STEPS: usize = 400, Count, Said;
        /// Symbols of one answer of a search through the workspace.
        SYMBOLS: usize = 256, Count, Shown;
        /// How long a report that is shown waits for the analysis; it says what it can by then.
        REPORT: Duration = Duration::from_millis(500), Time, Waited;
    }

    mod fixes {
        /// Findings of one Python file for which an editor looks for a fix.
        FILE: usize = 16, Count, NoFix;
        /// Findings at one place of Python for which an editor looks for a fix.
        PLACE: usize = 3, Count, NoFix;
        /// Findings of one Python file for which `check --fix` looks for a fix.
        COMMAND: usize = 64, Count, NoFix;
        /// Findings of one Python file for which `check` looks for a fix.
        CHECK: usize = 8, Count, NoFix;
    }

    mod hover {
        /// How long a hover waits for a report.
        REPORT: Duration = Duration::from_millis(25), Time, Waited;
    }

    mod typing {
        /// How long nobody types at the end of a line, in a comment or blank space, before the text is analysed again, unless
        /// somebody asks for more than what stays the same.
        PAUSE: Duration = Duration::from_millis(300), Time, Waited;
    }

    mod memo {
        /// Reports of one text that are kept.
        REPORTS: usize = 64, Count, Forgotten;
        /// Changes of documents after which that is forgotten for which nobody asked since as many before.
        CHANGES: u64 = 256, Count, Forgotten;
    }

    mod disk {
        /// How long a request waits for the comparison with the disk.
        CHECK: Duration = Duration::from_secs(5), Time, Waited;
        /// How long the analysis of a text that is being typed waits for the comparison with the disk.
        BRIEF_CHECK: Duration = Duration::from_millis(100), Time, Waited;
    }

    mod end {
        /// How long the end of the process waits for runs to clean up behind them.
        RUNS: Duration = Duration::from_secs(5), Time, Ended;
    }

    mod files {
        /// Bytes of a file, of standard input, or of a document that an editor opens. Its analysis holds up to eight times as much.
        TEXT: u64 = 256 << 20, Bytes, Refused;
    }

    mod command {
        /// Bytes of the stack of a thread that analyses: deep enough for what recurses within its own limits.
        STACK: usize = 64 << 20, Bytes, Ended;
    }
}
