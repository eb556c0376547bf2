//! Functions that the recorder takes for allocators besides malloc and its
//! like: what the user says of them, and the stubs that lead their calls to it.
//!
//! * [`known`]: those of allocators that many programs use
//! * [`elf`]: a library or an object with a stub and an entry for each

pub mod elf;
pub mod known;

use memlog_pages::{Advice, clean};

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Does {
    /// Gives the program a block.
    Takes = 1,
    /// Gets one back.
    GivesBack = 2,
    /// Changes the size of one, which may move.
    Moves = 3,
    /// Gets memory for the others.
    Serves = 4,
}

/// A function, and which of its arguments mean what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// What it does.
    pub does: Does,
    /// Where the arguments are that mean something.
    pub at: At,
}

/// What one `--alloc-func` names: a type of its own, or clap takes a list for
/// several options.
pub type Functions = std::vec::Vec<Function>;

/// Each of them once, in their order; an error where one is said to be two things.
pub fn once<'a>(named: impl IntoIterator<Item = &'a Function>) -> anyhow::Result<Vec<Function>> {
    let mut functions: Vec<Function> = Vec::new();
    for function in named {
        match functions.iter().find(|other| other.name == function.name) {
            Some(other) if other != function => {
                let name = clean(function.name.as_bytes());
                let wrong = format!("{name} has two meanings");
                return Err(Advice::error(wrong, "leave one of them out"));
            }
            Some(_) => {}
            None => functions.push(function.clone()),
        }
    }
    Ok(functions)
}

/// Numbers of arguments, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Bytes, or [`At::OF_STRING`].
    pub size: u8,
    /// How many times as many.
    pub count: u8,
    /// The block.
    pub block: u8,
    /// The alignment.
    pub alignment: u8,
    /// Where the block's address is written to.
    pub out: u8,
}

impl At {
    /// There is none.
    pub const NONE: u8 = 0xFF;
    /// As a size: the block is a string, and as long as that.
    pub const OF_STRING: u8 = 0xFE;
}

/// Arguments in registers on every machine that has stubs.
const MOST_ARGUMENTS: usize = 6;

/// How a function is written.
pub const EXAMPLE: &str = "'pool_get(size)=pool_put(ptr)'";
const WORDS: &str = "size, count, ptr, align, out, string or _";

/// Reads `TAKE(size)`, `TAKE(size)=BACK(ptr)` or the name of a known function;
/// an error begins with the column.
pub fn parse(text: &str) -> Result<Vec<Function>, String> {
    let mut rest = Rest { text, at: 0 };
    let mut functions = vec![rest.function(Side::Left)?];
    if rest.takes('=') {
        functions.push(rest.function(Side::Right)?);
        while rest.takes(',') {
            functions.push(rest.function(Side::Right)?);
        }
    }
    // What is given back by free, say, has a door already.
    functions.retain(|function| !known::has_door(&function.name));
    match rest.peek() {
        None => Ok(functions),
        Some(_) => Err(rest.wrong("expected the end, or = and who gives back")),
    }
}

/// Of the =: on its right are those that give back.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn left(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&mut self) -> Option<char> {
        let blanks = self.left().len() - self.left().trim_start().len();
        self.at += blanks;
        self.left().chars().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn wrong(&self, expected: &str) -> String {
        self.wrong_at(self.at, expected)
    }

    fn wrong_at(&self, at: usize, expected: &str) -> String {
        let column = self.text.get(..at).unwrap_or("").chars().count() + 1;
        format!("column {column}: {expected}, as in {EXAMPLE}")
    }

    fn word(&mut self) -> &'a str {
        self.peek();
        let left = self.left();
        let ends_word = |c: char| c.is_whitespace() || c.is_control() || "()=,".contains(c);
        let word = left.get(..left.find(ends_word).unwrap_or(left.len()));
        let word = word.unwrap_or("");
        self.at += word.len();
        word
    }

    fn function(&mut self, side: Side) -> Result<Function, String> {
        self.peek();
        let begin = self.at;
        let name = self.word();
        if name.is_empty() || name.len() > 1000 {
            return Err(self.wrong_at(begin, "expected the name of a function"));
        }
        if !self.takes('(') {
            return known::find(name).ok_or_else(|| {
                self.wrong(&format!(
                    "expected ( and what the arguments of {name} mean: {WORDS}"
                ))
            });
        }
        let mut at = At {
            size: At::NONE,
            count: At::NONE,
            block: At::NONE,
            alignment: At::NONE,
            out: At::NONE,
        };
        let mut number = 0;
        while !self.takes(')') {
            if number > 0 && !self.takes(',') {
                return Err(self.wrong("expected , or )"));
            }
            self.peek();
            let begin = self.at;
            let word = self.word();
            if number == MOST_ARGUMENTS {
                return Err(self.wrong_at(begin, "expected at most six arguments"));
            }
            self.take_argument(&mut at, word, begin, number as u8)?;
            number += 1;
        }
        let does = meaning(&at, side).map_err(|expected| self.wrong_at(begin, expected))?;
        if side == Side::Left && known::has_door(name) {
            let expected = format!("expected another name, for {name} is hooked anyway");
            return Err(self.wrong_at(begin, &expected));
        }
        let name = name.to_owned();
        Ok(Function { name, does, at })
    }

    fn take_argument(
        &self,
        at: &mut At,
        word: &str,
        begin: usize,
        number: u8,
    ) -> Result<(), String> {
        let (place, value) = match word {
            "size" => (&mut at.size, number),
            "string" => (&mut at.size, At::OF_STRING),
            "count" => (&mut at.count, number),
            "ptr" => (&mut at.block, number),
            "align" => (&mut at.alignment, number),
            "out" => (&mut at.out, number),
            "_" => return Ok(()),
            _ => return Err(self.wrong_at(begin, &format!("expected {WORDS}"))),
        };
        if *place != At::NONE {
            return Err(self.wrong_at(begin, &format!("expected {word} only once")));
        }
        *place = value;
        Ok(())
    }
}

fn meaning(at: &At, side: Side) -> Result<Does, &'static str> {
    let is = |place: u8| place != At::NONE;
    match (side, is(at.block), is(at.size)) {
        (Side::Right, true, _) => Ok(Does::GivesBack),
        (Side::Right, false, _) => Err("expected ptr among the arguments of who gives back"),
        (Side::Left, true, true) => Ok(Does::Moves),
        (Side::Left, true, false) => Ok(Does::GivesBack),
        (Side::Left, false, true) => Ok(Does::Takes),
        (Side::Left, false, false) if is(at.count) || is(at.alignment) || is(at.out) => {
            Err("expected size among the arguments")
        }
        (Side::Left, false, false) => Ok(Does::Serves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(String, Does)> {
        let functions = parse(text).expect(text).into_iter();
        functions.map(|f| (f.name, f.does)).collect()
    }

    #[test]
    fn functions_are_read() {
        let pair = |name: &str, does| (name.to_owned(), does);
        assert_eq!(
            said("pool_get(size)=pool_put(ptr)"),
            [
                pair("pool_get", Does::Takes),
                pair("pool_put", Does::GivesBack)
            ]
        );
        assert_eq!(
            said(" get( _, count , size ) = put(ptr, size), drop(_, ptr) "),
            [
                pair("get", Does::Takes),
                pair("put", Does::GivesBack),
                pair("drop", Does::GivesBack)
            ]
        );
        assert_eq!(said("grow(ptr,size)"), [pair("grow", Does::Moves)]);
        assert_eq!(said("put(ptr)"), [pair("put", Does::GivesBack)]);
        assert_eq!(said("create()"), [pair("create", Does::Serves)]);
        assert_eq!(said("xget(size)=free(ptr)"), [pair("xget", Does::Takes)]);
        assert_eq!(said("mallocx"), [pair("mallocx", Does::Takes)]);
        let get = &parse("get(out,align,_,size)").expect("arguments")[0];
        assert_eq!((get.at.out, get.at.alignment, get.at.size), (0, 1, 3));
        assert_eq!((get.at.count, get.at.block), (At::NONE, At::NONE));
    }

    #[test]
    fn a_function_has_one_meaning() {
        let of = |texts: &[&str]| {
            let all = texts.iter().flat_map(|text| parse(text).expect(text));
            once(&all.collect::<Vec<_>>())
        };
        let functions = of(&["get(size)=put(ptr)", "a(size)=put(ptr)"]).expect("no contradiction");
        let names: Vec<_> = functions.iter().map(|function| &function.name).collect();
        assert_eq!(names, ["get", "put", "a"]);
        let wrong = of(&["get(size)=put(ptr)", "get(_,size)"]).expect_err("two meanings");
        assert_eq!(wrong.to_string(), "get has two meanings");
    }

    #[test]
    fn what_is_wrong_has_a_column() {
        for (text, column) in [
            ("", 1),
            ("pool_get", 9),
            ("pool_get(bytes)", 10),
            ("pool_get(size", 14),
            ("pool_get(size) pool_put(ptr)", 16),
            ("pool_get(size)=", 16),
            ("pool_get(size)=pool_put()", 16),
            ("pool_get(size,size)", 15),
            ("pool_get(count)", 1),
            ("höher(siz)", 7),
            ("malloc(size)", 1),
            ("f(_,_,_,_,_,_,size)", 15),
            ("f(,)", 3),
        ] {
            let wrong = parse(text).expect_err(text);
            let expected = format!("column {column}: expected ");
            assert!(wrong.starts_with(&expected), "{text}: {wrong}");
        }
    }
}
