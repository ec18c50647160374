//! How a partition walks through a ring: its slot and the phase of its lap.

/// The way in which slot and phase are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// By dividing the number of the step.
    Divided,
    /// Both are carried through the loop and wrap.
    Carried,
}

/// The place of one partition in one ring.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    name: String,
    walk: Walk,
    depth: usize,
    /// The slip: the phase flips with every step.
    each_step: bool,
}

impl Cursor {
    pub(super) fn new(name: &str, walk: Walk, depth: usize, each_step: bool) -> Cursor {
        Cursor { name: name.to_owned(), walk, depth, each_step }
    }

    /// What stands before the loop.
    pub(super) fn before(&self) -> Vec<String> {
        match self.walk {
            Walk::Divided => Vec::new(),
            Walk::Carried => vec![format!("{}_slot = 0", self.name), format!("{}_phase = 0", self.name)],
        }
    }

    /// What stands at the start of a step; `n` is its number.
    pub(super) fn step(&self) -> Vec<String> {
        let Cursor { name, depth, .. } = self;
        let lap = if self.each_step { "n".to_owned() } else { format!("(n // {depth})") };
        match self.walk {
            Walk::Divided => vec![format!("{name}_slot = n % {depth}"), format!("{name}_phase = {lap} & 1")],
            Walk::Carried => Vec::new(),
        }
    }

    /// What stands at the end of a step.
    pub(super) fn after(&self) -> Vec<String> {
        let Cursor { name, depth, .. } = self;
        let flip = match self.each_step {
            true => format!("{name}_phase = {name}_phase ^ 1"),
            false => format!("{name}_phase = gl.where({name}_wraps, {name}_phase ^ 1, {name}_phase)"),
        };
        match self.walk {
            Walk::Divided => Vec::new(),
            Walk::Carried => vec![
                format!("{name}_wraps = {name}_slot == {}", depth - 1),
                flip,
                format!("{name}_slot = gl.where({name}_wraps, 0, {name}_slot + 1)"),
            ],
        }
    }

    /// The slot.
    pub(super) fn slot(&self) -> String {
        format!("{}_slot", self.name)
    }

    /// The slot of the step before.
    pub(super) fn slot_before(&self) -> String {
        format!("({}_slot + {}) % {}", self.name, self.depth - 1, self.depth)
    }

    /// The slot of the next step.
    pub(super) fn slot_after(&self) -> String {
        format!("({}_slot + 1) % {}", self.name, self.depth)
    }

    /// The phase that a reader waits for; the writer waits for the other one. `wrong` asks for the wrong one.
    pub(super) fn phase(&self, writer: bool, wrong: bool) -> String {
        let name = &self.name;
        if writer == wrong { format!("{name}_phase") } else { format!("{name}_phase ^ 1") }
    }
}
