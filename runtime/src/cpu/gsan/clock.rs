//! What threads know of each other: vector clocks over programs.
//!
//! Within a program the machine's clock says what a thread has seen: other threads' steps, and the ends of asynchronous
//! operations. Between programs a clock says the same of every program that something was learned of. Knowledge comes in
//! by an acquiring atomic, and goes on to the other threads of the program with the barriers that order them: an
//! acquisition has a place in its thread's program order, and whoever has seen that place has what was acquired.

use std::rc::Rc;

use machine::{Channel, Channels, Clock};

/// What is known of other programs: by program, in rising order, the events of it that were seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge(Rc<Vec<(u32, Clock)>>);

impl Knowledge {
    /// What is known of a program.
    pub(super) fn of(&self, program: u32) -> Option<&Clock> {
        let at = self.0.binary_search_by_key(&program, |(known, _)| *known).ok()?;
        self.0.get(at).map(|(_, clock)| clock)
    }

    /// Whether it holds all that `other` holds.
    pub(super) fn covers(&self, other: &Knowledge) -> bool {
        let held = |(program, clock): &(u32, Clock)| self.of(*program).is_some_and(|known| known.covers(clock));
        Rc::ptr_eq(&self.0, &other.0) || other.0.iter().all(held)
    }

    /// Learns all that `other` holds.
    pub(super) fn join(&mut self, other: &Knowledge) {
        if self.0.is_empty() {
            self.0 = other.0.clone();
        }
        if self.covers(other) {
            return;
        }
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::with_capacity(self.0.len().max(other.0.len()));
        loop {
            match (mine.peek(), theirs.peek()) {
                (Some((a, known)), Some((b, news))) if a == b => {
                    let mut clock = known.clone();
                    clock.join(news);
                    both.push((*a, clock));
                    mine.next();
                    theirs.next();
                }
                (Some((a, known)), theirs_next) if theirs_next.is_none_or(|(b, _)| a < b) => {
                    both.push((*a, known.clone()));
                    mine.next();
                }
                (_, Some((b, news))) => {
                    both.push((*b, news.clone()));
                    theirs.next();
                }
                (_, None) => break,
            }
        }
        self.0 = Rc::new(both);
    }

    /// That so much of a program was seen.
    pub(super) fn about(program: u32, clock: Clock) -> Knowledge {
        Knowledge(Rc::new(vec![(program, clock)]))
    }
}

/// What a thread of a program has acquired.
#[derive(Clone, Debug, Default)]
struct ThreadClock {
    /// What it knows beside what the machine's clock says.
    known: Knowledge,
    /// What it acquired itself, and the number of the step after which its thread has it.
    acquired: Vec<(u32, Knowledge)>,
    /// By thread, how many of its acquisitions are in `known`.
    merged: Vec<usize>,
}

/// What the threads of a program know of other programs.
#[derive(Clone, Debug)]
pub(crate) struct ProgramClocks {
    /// The program's number in the grid.
    pub(super) program: u32,
    threads: Vec<ThreadClock>,
}

impl ProgramClocks {
    /// Of a program that begins, with so many threads in all its CTAs.
    pub(crate) fn new(program: u32, threads: usize) -> ProgramClocks {
        let thread = ThreadClock { merged: vec![0; threads], ..ThreadClock::default() };
        ProgramClocks { program, threads: vec![thread; threads] }
    }

    /// What a thread that has seen so much of its own program knows beside that.
    pub(super) fn known(&mut self, thread: usize, seen: &Clock, channels: Channels) -> Knowledge {
        for other in 0..self.threads.len() {
            let Some(from) = self.threads.get(thread).and_then(|clock| clock.merged.get(other)).copied() else {
                continue;
            };
            let acquired = self.threads.get(other).map_or(&[][..], |clock| &clock.acquired);
            if other == thread || acquired.len() == from {
                continue;
            }
            let until = seen.get(channels.base(other));
            let news: Vec<Knowledge> =
                acquired.iter().skip(from).take_while(|(at, _)| *at <= until).map(|(_, what)| what.clone()).collect();
            if let Some(clock) = self.threads.get_mut(thread) {
                news.iter().for_each(|what| clock.known.join(what));
                clock.merged[other] += news.len();
            }
        }
        self.threads.get(thread).map_or_else(Knowledge::default, |clock| clock.known.clone())
    }

    /// A thread acquires knowledge in the step of this number.
    pub(super) fn acquire(&mut self, thread: usize, step: u32, what: &Knowledge) {
        let alone = self.threads.len() == 1;
        let Some(clock) = self.threads.get_mut(thread) else { return };
        if clock.known.covers(what) {
            return;
        }
        clock.known.join(what);
        if !alone {
            clock.acquired.push((step, what.clone()));
        }
    }
}

/// Who accesses global memory, and what it knows: a thread, or an asynchronous operation as it was issued.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    /// The program's number in the grid.
    pub(super) program: u32,
    /// The thread that does it, or has issued it.
    pub(super) thread: u16,
    /// The position of its CTA in the cluster.
    pub(super) cta: u16,
    /// The thread's own channel, and the step in which it does it or has issued it.
    pub(super) step: (Channel, u32),
    /// The channel and number of the event that ends the access: who has seen that has seen the access.
    pub(super) ends: (Channel, u32),
    /// The channel whose earlier events come first whatever was seen: program order.
    pub(super) follows: Option<Channel>,
    /// What it has seen of its own program.
    pub(super) seen: Clock,
    /// What it knows of others, and of the writes of its own program's TMA stores.
    pub(super) known: Knowledge,
}

impl Actor {
    /// Whether an event of a program comes before what it does.
    pub(super) fn comes_after(&self, program: u32, channel: Channel, number: u32) -> bool {
        let own = program == self.program && (self.follows == Some(channel) || self.seen.get(channel) >= number);
        own || self.known.of(program).is_some_and(|clock| clock.get(channel) >= number)
    }

    /// What others learn that acquire what it releases now.
    pub(super) fn released(&self) -> Knowledge {
        let mut all = self.known.clone();
        all.join(&Knowledge::about(self.program, self.seen.clone()));
        all
    }
}
