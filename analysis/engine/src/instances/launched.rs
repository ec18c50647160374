//! A kernel as one launch wants it, beside the instances that are judged.

use std::sync::Arc;

use super::{ElaboratedInstance, Elaboration, KernelInstances};
use base::{Cancel, Cancelled};
use gluon::{Spec, elaborate};
use python::syntax::Sources;
use specialize::Instance;

impl Elaboration {
    /// Elaborates a kernel of the file with what a launch gives it. It is neither kept nor judged.
    ///
    /// # Errors
    ///
    /// Where `cancel` says so.
    pub fn launched(
        &self,
        kernel: &KernelInstances,
        spec: Spec,
        sources: &dyn Sources,
        cancel: &Cancel<'_>,
    ) -> Result<ElaboratedInstance, Cancelled> {
        let made = elaborate(&self.module, sources, &spec, cancel)?;
        let instance = Instance {
            spec,
            label: String::new(),
            hint: String::new(),
            directive: String::new(),
            launches: Arc::from([]),
        };
        let text = (self.module.clone(), self.outline.clone());
        Ok(ElaboratedInstance::new(text, sources, instance, kernel.entry.name_range, made, &kernel.instances))
    }
}
