//! Values as text, and println with `{}`.

use std::rc::Rc;

use rhai::{Dynamic, Engine, EvalAltResult};

use crate::env::{Env, Made, refused};
use crate::groups::Groups;
use crate::list::{AllocationList, MapList};
use crate::stack::Backtrace;
use crate::time::Duration;

pub(super) fn teach(engine: &mut Engine, env: &Rc<Env>) {
    let own = || Rc::clone(env);
    let here = own();
    engine.register_fn("println", move || here.println(""));
    let here = own();
    engine.register_fn("println", move |one: Dynamic| -> Made<()> {
        here.println(&text(one)?)
    });
    let here = own();
    engine.register_fn("println", move |form: Dynamic, one: Dynamic| {
        put(&here, form, vec![one])
    });
    let here = own();
    engine.register_fn(
        "println",
        move |form: Dynamic, one: Dynamic, two: Dynamic| put(&here, form, vec![one, two]),
    );
    let here = own();
    engine.register_fn(
        "println",
        move |form: Dynamic, one: Dynamic, two: Dynamic, three: Dynamic| {
            put(&here, form, vec![one, two, three])
        },
    );
    // In texts that values are put into, and behind `print`.
    engine
        .register_fn("to_string", |one: &mut Duration| one.to_string())
        .register_fn("to_debug", |one: &mut Duration| one.to_string());
    fn both<T: Clone + 'static>(engine: &mut Engine) {
        for word in ["to_string", "to_debug"] {
            engine.register_fn(word, |one: &mut T| text(Dynamic::from(one.clone())));
        }
    }
    both::<AllocationList>(engine);
    both::<MapList>(engine);
    both::<Groups>(engine);
    both::<Backtrace>(engine);
    // What these print goes out too, if a limit or the host has nothing against it; they
    // have no way to fail.
    let here = own();
    engine.on_print(move |line| drop(here.println(line)));
    let here = own();
    engine.on_debug(move |line, _, _| drop(here.println(line)));
}

fn put(env: &Env, form: Dynamic, values: Vec<Dynamic>) -> Made<()> {
    let form = text(form)?;
    let values: Result<Vec<String>, Box<EvalAltResult>> = values.into_iter().map(text).collect();
    env.println(&filled(&form, &values?).map_err(refused)?)
}

/// A value as text.
fn text(value: Dynamic) -> Made<String> {
    if value.is_unit() {
        return Ok("None".to_owned());
    }
    if let Ok(number) = value.as_float() {
        return Ok(number.to_string());
    }
    if let Some(one) = value.clone().try_cast::<Duration>() {
        return Ok(one.to_string());
    }
    if let Some(list) = value.clone().try_cast::<AllocationList>() {
        return Ok(format!("{} allocation(s)", list.0.len()?));
    }
    if let Some(list) = value.clone().try_cast::<MapList>() {
        return Ok(format!("{} map(s)", list.0.len()?));
    }
    if let Some(groups) = value.clone().try_cast::<Groups>() {
        return Ok(format!("{} group(s)", groups.rows.len()));
    }
    match value.clone().try_cast::<Backtrace>() {
        Some(stack) => stack.text(),
        None => Ok(value.to_string()),
    }
}

/// `{}` is the next value, `{0}` the first, and `{{` a brace.
fn filled(form: &str, values: &[String]) -> Result<String, String> {
    let (mut out, mut next) = (String::with_capacity(form.len()), 0);
    let mut rest = form;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        if let Some(behind) = behind.strip_prefix('{') {
            out.push('{');
            rest = behind;
            continue;
        }
        let (place, behind) = behind.split_once('}').ok_or("a `{` has no `}`")?;
        let place = match place {
            "" => {
                next += 1;
                next - 1
            }
            place => place.parse().map_err(|_| {
                format!("`{{{place}}}` is no place of a value: write {{}} or {{0}}")
            })?,
        };
        let value = values.get(place);
        let missing = || {
            format!(
                "there is no value for `{{{place}}}`: there are {}",
                values.len()
            )
        };
        out.push_str(value.ok_or_else(missing)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_into_texts() {
        let values = ["a".to_owned(), "b".to_owned()];
        let filled = |form: &str| filled(form, &values);
        assert_eq!(filled("{} and {}"), Ok("a and b".into()));
        assert_eq!(filled("{1}{0}{{}"), Ok("ba{}".into()));
        assert_eq!(filled("nothing"), Ok("nothing".into()));
        for form in ["{", "{}{}{}", "{x}", "{7}"] {
            assert!(filled(form).is_err(), "{form}");
        }
    }
}
