//! Typed views of ops: `get { … }` in a declaration makes a struct with a method an operand group or
//! attribute, over any tree that implements [`OpReader`].

/// What a typed view asks of a tree.
pub trait OpReader {
    /// A handle of an operation.
    type Op: Copy;
    /// A handle of a value.
    type Value: Copy;
    /// What tells declared ops apart.
    type Code: PartialEq;

    /// Which declared op an operation is.
    fn code(&self, op: Self::Op) -> Option<Self::Code>;
    /// The operands of a group, by its place in the syntax; empty where the text has none.
    fn operand_group(&self, op: Self::Op, group: usize) -> &[Self::Value];
    /// An integer attribute.
    fn int_attr(&self, op: Self::Op, name: &str) -> Option<i64>;
}

/// The place of an operand group in a syntax. A name that the syntax does not have fails while
/// compiling, as it is only called in constants.
pub(crate) const fn group_index(syntax: &str, name: &str) -> usize {
    let (syntax, name) = (syntax.as_bytes(), name.as_bytes());
    let (mut at, mut index) = (0, 0);
    while at < syntax.len() && syntax[at] != b'|' {
        if syntax[at] == b' ' {
            at += 1;
            continue;
        }
        let (mut len, mut same, mut named) = (0, true, true);
        while at < syntax.len() && syntax[at] != b' ' && syntax[at] != b'|' {
            named = named && !matches!(syntax[at], b':' | b'=' | b'?' | b'*');
            if named {
                same = same && len < name.len() && syntax[at] == name[len];
                len += 1;
            }
            at += 1;
        }
        if same && len == name.len() {
            return index;
        }
        index += 1;
    }
    panic!("the syntax has no operand group of this name")
}

/// One typed view.
macro_rules! typed_view {
    ($dialect:ident, $op:ident, $syntax:literal, $doc:expr, { $($kind:ident $name:ident = $text:literal),* $(,)? }) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub struct $op<'t, T: $crate::typed::OpReader> {
            tree: &'t T,
            op: T::Op,
        }

        impl<'t, T: $crate::typed::OpReader> $op<'t, T> {
            /// The view of an operation, if it is this op.
            pub fn cast(tree: &'t T, op: T::Op) -> Option<Self>
            where
                T::Code: From<$dialect>,
            {
                (tree.code(op)? == $dialect::$op.into()).then_some($op { tree, op })
            }

            $($crate::typed::typed_view!(@ $kind $name $text $syntax);)*
        }
    };
    (@ operand $name:ident $text:literal $syntax:literal) => {
        #[doc = concat!("The operand `", $text, "`; none where the text leaves it out.")]
        pub fn $name(&self) -> Option<T::Value> {
            const AT: usize = $crate::typed::group_index($syntax, $text);
            self.tree.operand_group(self.op, AT).first().copied()
        }
    };
    (@ operands $name:ident $text:literal $syntax:literal) => {
        #[doc = concat!("The operands `", $text, "`.")]
        pub fn $name(&self) -> &'t [T::Value] {
            const AT: usize = $crate::typed::group_index($syntax, $text);
            self.tree.operand_group(self.op, AT)
        }
    };
    (@ int $name:ident $text:literal $syntax:literal) => {
        #[doc = concat!("The attribute `", $text, "`, if it is an integer.")]
        pub fn $name(&self) -> Option<i64> {
            self.tree.int_attr(self.op, $text)
        }
    };
}
pub(crate) use typed_view;
