//! What was found of a file, in another text of it that says the same.

use python::syntax::Shifts;

use super::{Entry, FileKernels, Instances};

impl FileKernels {
    /// Moves all places to another text.
    pub(super) fn shift(&mut self, shifts: &Shifts) {
        for (entry, instances) in &mut self.kernels {
            entry.shift(shifts);
            instances.shift(shifts);
        }
        self.stray.iter_mut().for_each(|note| note.range = shifts.range(note.range));
    }
}

impl Entry {
    fn shift(&mut self, shifts: &Shifts) {
        self.def = shifts.place(self.def);
        self.range = shifts.range(self.range);
        self.name_range = shifts.range(self.name_range);
        self.params.iter_mut().for_each(|param| param.range = shifts.range(param.range));
    }
}

impl Instances {
    fn shift(&mut self, shifts: &Shifts) {
        for instance in &mut self.list {
            instance.spec.shift(&|offset| shifts.place(offset));
        }
        self.notes.iter_mut().for_each(|note| note.range = shifts.range(note.range));
        for site in self.sites.iter_mut().filter(|site| site.range.is_some()) {
            site.range = site.range.map(|range| shifts.range(range));
            site.def = shifts.place(site.def);
        }
    }
}
