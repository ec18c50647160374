//! Why something is not followed, and what is not followed because of it.
//!
//! A value that is not known carries its reason along. Where something stops because of such a value, the reason of
//! that is a chain of two parts, what is not known here and the cause: a chain never grows longer, and its cause can
//! be told from it, so that what follows from one cause can be said once.

/// Between what is not known and the cause.
const LINK: &str = " is not known: ";

/// `{what} is not known: {cause}`, where `reason` is the cause or a chain that ends in it.
///
/// ```
/// let first = base::reason::chained("what is called here", "`f` is not followed");
/// assert_eq!(first, "what is called here is not known: `f` is not followed");
/// assert_eq!(base::reason::chained("the condition", &first), "the condition is not known: `f` is not followed");
/// ```
pub fn chained(what: &str, reason: &str) -> String {
    format!("{what}{LINK}{}", cause(reason))
}

/// The cause that a reason ends in; the reason itself, where it is one.
pub fn cause(reason: &str) -> &str {
    reason.rsplit(LINK).next().unwrap_or(reason)
}
