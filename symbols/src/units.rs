//! What is learned from one pass over a unit of debug information: the scopes that qualify a
//! name, and whether inlined functions nest so deep that following them could exhaust the stack.

use gimli::{AttributeValue, EndianSlice, RunTimeEndian, UnitOffset, UnitRef};

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Honest code reaches some dozens.
const MAX_INLINE_DEPTH: usize = 256;
/// A name has no more parts than this; also the end of a chain of references.
const MAX_PARTS: usize = 32;

/// Namespaces, types, modules and, in Fortran, procedures with others inside.
pub(crate) struct Unit<'a> {
    /// In order of `begin`; properly nested.
    scopes: Vec<Scope<'a>>,
}

struct Scope<'a> {
    begin: usize,
    end: usize,
    parent: Option<usize>,
    name: Slice<'a>,
}

impl<'a> Unit<'a> {
    /// Walks a unit; `None` if it must not be handed to a recursive reader.
    pub(crate) fn scan(unit: UnitRef<'_, Slice<'a>>, fortran: bool) -> Option<Self> {
        let mut scopes: Vec<Scope<'a>> = Vec::new();
        let mut open: Vec<(isize, usize)> = Vec::new();
        let mut inlined: Vec<isize> = Vec::new();
        let mut entries = unit.entries_raw(None).ok()?;
        'unit: while !entries.is_empty() {
            let (at, depth) = (entries.next_offset().0, entries.next_depth());
            let Ok(abbreviation) = entries.read_abbreviation() else {
                break;
            };
            let Some(abbreviation) = abbreviation else {
                continue;
            };
            while open.last().is_some_and(|(opened, _)| *opened >= depth) {
                let (_, index) = open.pop()?;
                scopes[index].end = at;
            }
            while inlined.last().is_some_and(|opened| *opened >= depth) {
                inlined.pop();
            }
            let tag = abbreviation.tag();
            if tag == gimli::DW_TAG_inlined_subroutine && abbreviation.has_children() {
                inlined.push(depth);
                if inlined.len() > MAX_INLINE_DEPTH {
                    return None;
                }
            }
            if !abbreviation.has_children() || !is_scope(tag, fortran) {
                if entries.skip_attributes(abbreviation.attributes()).is_err() {
                    break;
                }
                continue;
            }
            let mut name = Slice::new(&[], RunTimeEndian::Little);
            for spec in abbreviation.attributes() {
                let Ok(attribute) = entries.read_attribute(*spec) else {
                    break 'unit;
                };
                if attribute.name() == gimli::DW_AT_name {
                    name = unit.attr_string(attribute.value()).unwrap_or(name);
                }
            }
            if name.is_empty() && tag == gimli::DW_TAG_namespace {
                name = Slice::new(b"(anonymous namespace)", RunTimeEndian::Little);
            }
            let parent = open.last().map(|(_, index)| *index);
            open.push((depth, scopes.len()));
            scopes.push(Scope {
                begin: at,
                end: usize::MAX,
                parent,
                name,
            });
        }
        Some(Self { scopes })
    }

    /// The names around an entry, outermost first.
    fn around(&self, entry: usize) -> Vec<Slice<'a>> {
        let before = self.scopes.partition_point(|scope| scope.begin < entry);
        let mut at = before.checked_sub(1);
        let mut names = Vec::new();
        while let Some(scope) = at.map(|at| &self.scopes[at]) {
            if entry < scope.end && !scope.name.is_empty() && names.len() < MAX_PARTS {
                names.push(scope.name);
            }
            at = scope.parent;
        }
        names.reverse();
        names
    }

    /// The qualified name of a function, following it to where it was declared.
    pub(crate) fn qualified(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        mut entry: UnitOffset,
    ) -> Option<String> {
        for _ in 0..MAX_PARTS {
            let (name, next) = name_and_origin(unit, entry)?;
            if let Some(next) = next {
                entry = next;
                continue;
            }
            let mut parts = self.around(entry.0);
            parts.push(name?);
            let parts: Vec<_> = parts.iter().map(|part| part.to_string_lossy()).collect();
            let name = parts.join("::");
            return (name.len() <= crate::demangle::MAX_DEMANGLED_NAME).then_some(name);
        }
        None
    }
}

type NameAndOrigin<'a> = (Option<Slice<'a>>, Option<UnitOffset>);

/// The name of an entry and the entry of the same unit that it completes. References to other
/// units are not followed: the caller then shows what the library found.
fn name_and_origin<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    entry: UnitOffset,
) -> Option<NameAndOrigin<'a>> {
    let mut entries = unit.entries_raw(Some(entry)).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    let (mut name, mut origin) = (None, None);
    for spec in abbreviation.attributes() {
        let attribute = entries.read_attribute(*spec).ok()?;
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_name, value) => name = unit.attr_string(value).ok(),
            (
                gimli::DW_AT_specification | gimli::DW_AT_abstract_origin,
                AttributeValue::UnitRef(offset),
            ) => origin = Some(offset),
            _ => {}
        }
    }
    Some((name, origin))
}

fn is_scope(tag: gimli::DwTag, fortran: bool) -> bool {
    match tag {
        gimli::DW_TAG_namespace
        | gimli::DW_TAG_module
        | gimli::DW_TAG_class_type
        | gimli::DW_TAG_structure_type
        | gimli::DW_TAG_union_type
        | gimli::DW_TAG_enumeration_type
        | gimli::DW_TAG_interface_type => true,
        gimli::DW_TAG_subprogram => fortran,
        _ => false,
    }
}
