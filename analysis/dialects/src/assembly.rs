//! What the text of inline assembly says of barriers and shared memory.

/// Whether assembly is the barrier of all threads of a program and nothing else.
pub fn is_barrier(text: &str) -> bool {
    const BARRIERS: &[&str] = &[
        "bar.sync 0",
        "bar.sync.aligned 0",
        "barrier.sync 0",
        "barrier.sync.aligned 0",
        "barrier.cta.sync 0",
        "s_barrier",
    ];
    let mut statements = text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty()).peekable();
    statements.peek().is_some() && statements.all(|statement| BARRIERS.contains(&statement))
}

/// Whether assembly has instructions that synchronise or that touch shared memory.
pub fn synchronises(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "mbarrier",
        "bar.",
        "barrier.",
        ".shared",
        "cp.async",
        "wgmma",
        "tcgen05",
        "fence",
        "membar",
        "s_barrier",
        "s_wait",
        "ds_read",
        "ds_write",
        "ds_load",
        "ds_store",
    ];
    WORDS.iter().any(|word| text.contains(word))
}
