//! Which code lies where: the list of module instances.
//!
//! Read from /proc/self/maps and the mapped program headers, by raw calls (where
//! the maps show nothing, the program's own headers tell of it alone):
//! never through ld.so, whose locks may be held by the very thread that calls
//! malloc, or by one that a fork left behind. An instance lives from one load
//! to one unload; its id is never used again, so that a library loaded where
//! another was does not inherit its stacks.

use crate::platform::elf::auxiliary::program_headers;
use crate::platform::elf::image::{self, ElfImage};
use crate::platform::elf::initial;
use crate::platform::ground::Ground;
use crate::platform::maps::{Line, Start, each_line};
use crate::platform::sys::{FileId, Os, Sys};
use crate::platform::text::MAX_PATH;

/// Instances kept at most.
pub const MAX_MODULES: usize = Os::SIZES.modules;
const BUFFER: usize = 8192;

/// A module instance.
#[derive(Clone, Copy, Default)]
pub struct Module {
    /// Its id in the log, from 1.
    pub id: u32,
    /// First mapped byte.
    pub low: u64,
    /// What its headers say.
    pub image: ElfImage,
    file: FileId,
    state: InstanceState,
}

impl Module {
    /// Whether an address lies in its segments.
    pub fn contains(&self, address: u64) -> bool {
        (self.low..self.image.high).contains(&address)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InstanceState {
    #[default]
    Gone,
    /// Seen in the reading under way, or found by it.
    Seen,
    /// From an earlier reading.
    Known,
    /// Its destructors ran: what lies there next is another instance.
    Leaving,
}

/// What a reading of the maps found, for who writes the log.
pub enum Found<'a> {
    /// A new instance.
    Loaded {
        /// The instance.
        module: &'a Module,
        /// Its file.
        path: &'a [u8],
    },
    /// An instance that is no more.
    Unloaded {
        /// Which.
        id: u32,
    },
}

/// The list and what reading it takes. Lies in zeroed memory of the recorder,
/// never on a stack.
pub struct Modules {
    instances: Instances,
    buffer: [u8; BUFFER],
    path: [u8; MAX_PATH],
    /// What an instance is compared with.
    other: ElfImage,
}

struct Instances {
    list: [Module; MAX_MODULES],
    count: usize,
    last_id: u32,
}

impl Modules {
    /// The instance at a code address.
    pub fn find(&self, address: u64) -> Option<&Module> {
        let mut known = self.instances.list.iter().take(self.instances.count);
        known.find(|module| module.state == InstanceState::Seen && module.contains(address))
    }

    /// Whether an instance still lies where it was found: a library may have
    /// gone without a word of the loader's, and another come.
    pub fn is_there(&mut self, id: u32) -> bool {
        let Self {
            instances,
            other,
            path,
            ..
        } = self;
        let mut known = instances.list.iter().take(instances.count);
        known
            .find(|module| module.id == id)
            .is_some_and(|module| image::is_same(&module.image, module.low, other, path))
    }

    /// The destructors of the module around this address have run; which it is.
    pub fn leaving(&mut self, address: u64) -> Option<u32> {
        let mut known = self.instances.known();
        let module =
            known.find(|module| module.contains(address) && module.state == InstanceState::Seen)?;
        module.state = InstanceState::Leaving;
        Some(module.id)
    }

    /// Reads the maps and tells what changed.
    pub fn refresh(&mut self, ground: &Ground, mut tell: impl FnMut(Found)) {
        for module in self.instances.known() {
            if module.state == InstanceState::Seen {
                module.state = InstanceState::Known;
            }
        }
        let Self {
            instances,
            buffer,
            path,
            ..
        } = self;
        let mut start = Start::default();
        let complete = each_line(ground, buffer, |line| {
            let image = start.with(&line, |low, code| image::has_code(low, code, path));
            if let Some(image) = image {
                instances.see(&image, path, &mut tell);
            }
        });
        if instances.lack_program() {
            instances.see_program(buffer, path, &mut tell);
        }
        instances.bury(complete, tell);
    }

    /// Forgets what was told, so that the next reading tells all of it: the
    /// log of a forked child starts in the middle.
    pub fn tell_again(&mut self) {
        self.instances.count = 0;
    }

    /// A buffer for reading maps with.
    pub fn buffer(&mut self) -> &mut [u8] {
        &mut self.buffer
    }
}

impl Instances {
    fn known(&mut self) -> impl Iterator<Item = &mut Module> {
        self.list.iter_mut().take(self.count)
    }

    /// Whether the maps have shown no file so far: there are none, or they are
    /// written in another way.
    fn lack_program(&mut self) -> bool {
        self.known().all(|module| module.file == FileId::default())
    }

    /// The program itself, where the kernel told at its start that it is.
    fn see_program(&mut self, room: &mut [u8], name: &mut [u8], tell: &mut impl FnMut(Found)) {
        const PAGE: u64 = 4096;
        let (headers, _) = program_headers();
        if headers == 0 {
            return;
        }
        let length = initial::executable(room);
        let path = room.get(..length).unwrap_or(&[]);
        // The headers lie right behind the beginning of the file.
        self.see(&Line::of_start(headers & !(PAGE - 1), path), name, tell);
    }

    fn see(&mut self, line: &Line, name: &mut [u8], tell: &mut impl FnMut(Found)) {
        let known = self.known().find(|module| {
            module.low == line.low
                && module.file == line.file
                && module.state == InstanceState::Known
        });
        if let Some(module) = known {
            module.state = InstanceState::Seen;
            return;
        }
        let count = self.count;
        let free = self
            .known()
            .position(|module| module.state == InstanceState::Gone);
        let Some(place) = self.list.get_mut(free.unwrap_or(count)) else {
            return;
        };
        // Read straight into its place: an image is too large for the stack.
        if !image::read(line.low, &mut place.image, name) {
            return;
        }
        if place.image.header == 0 {
            for (place, &byte) in name.iter_mut().zip(line.path.iter().chain(&[0])) {
                *place = byte;
            }
            let name = name.get(..=line.path.len()).unwrap_or(&[]);
            image::find_frames_by_section(&mut place.image, name, line.file);
        }
        self.last_id += 1;
        (place.id, place.low, place.file) = (self.last_id, line.low, line.file);
        place.state = InstanceState::Seen;
        self.count += usize::from(free.is_none());
        tell(Found::Loaded {
            module: place,
            path: line.path,
        });
    }

    /// What a reading did not see is gone; after a torn one, nothing is.
    fn bury(&mut self, complete: bool, mut tell: impl FnMut(Found)) {
        for module in self.known() {
            match module.state {
                InstanceState::Known if !complete => module.state = InstanceState::Seen,
                InstanceState::Known | InstanceState::Leaving => {
                    module.state = InstanceState::Gone;
                    tell(Found::Unloaded { id: module.id });
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::memory::{Zeroed, maps_at_rest};

    /// What the program's headers say is what the maps say of it.
    #[test]
    fn the_program_is_known_without_maps() {
        let _rest = maps_at_rest();
        type Look = fn(&mut Modules, &mut dyn FnMut(Found));
        let find = |look: Look| {
            let (mut modules, mut found) = (Modules::zeroed(), Vec::new());
            look(&mut modules, &mut |one| {
                if let Found::Loaded { module, path } = one {
                    let ElfImage { high, bias, .. } = module.image;
                    let id = module.image.build_id.get().to_vec();
                    found.push((module.low, high, bias, id, path.to_vec()));
                }
            });
            found
        };
        let by_headers = find(|modules, mut tell| {
            let Modules {
                instances,
                buffer,
                path,
                ..
            } = modules;
            assert!(instances.lack_program());
            instances.see_program(buffer, path, &mut tell);
            // Found again, it is no other.
            instances
                .known()
                .for_each(|module| module.state = InstanceState::Known);
            instances.see_program(buffer, path, &mut tell);
        });
        let by_maps = find(|modules, tell| {
            modules.refresh(&Ground::new(), tell);
            assert!(!modules.instances.lack_program());
        });
        assert!(
            by_headers.len() == 1 && by_maps.contains(&by_headers[0]),
            "{by_headers:?}"
        );
    }
}
