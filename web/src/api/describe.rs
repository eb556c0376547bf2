//! The API as OpenAPI, made of the commands themselves: a parameter says what the option
//! of the command line says.

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};

use super::question::{self, Question};

/// The whole of it.
pub fn describe() -> Value {
    let mut paths = Map::new();
    let mut add = |path: &str, summary: String, parameters: Vec<Value>, content: &str| {
        let answer = json!({ "description": "The answer", "content": { content: {} } });
        let refusal = json!({ "$ref": "#/components/responses/Refusal" });
        paths.insert(
            path.to_owned(),
            json!({ "get": {
                "summary": summary,
                "parameters": parameters,
                "responses": { "200": answer, "400": refusal, "404": refusal, "422": refusal },
            }}),
        );
    };
    add("/logs", "All logs".to_owned(), Vec::new(), JSON);
    add(
        "/events",
        "The list of logs, now and whenever it changes".to_owned(),
        Vec::new(),
        "text/event-stream",
    );
    let summary = "What stands above each answer of a log".to_owned();
    add("/logs/{id}", summary, vec![id()], JSON);
    for question::Asked { question, .. } in &question::ALL {
        let command = (question.command)();
        let summary = format!("memlog {} --json", question.name);
        let path = format!("/logs/{{id}}/{}", question.name);
        add(&path, summary, parameters(question, &command), JSON);
    }
    let summary = "memlog diff --json: of two moments, or of the log `other` before this one";
    add("/logs/{id}/diff", summary.to_owned(), of_diff(), JSON);
    let summary = "A filter as a script that chooses the same blocks".to_owned();
    let filter = json!({
        "name": "where", "in": "query", "required": false, "schema": text(),
        "description": "The filter, in the language of doc/FILTERS.md",
    });
    add(
        "/logs/{id}/filter-as-script",
        summary,
        vec![id(), filter],
        JSON,
    );
    let summary = "The call graph, as a picture".to_owned();
    let parameters = parameters(&question::GRAPH, &(question::GRAPH.command)());
    add("/logs/{id}/graph.svg", summary, parameters, "image/svg+xml");
    paths.insert("/logs/{id}/script".to_owned(), script());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "memlog server",
            "version": "1",
            "description": "Questions about the allocations of recorded programs. doc/STATS.md \
                            says what the keys of the answers mean.",
        },
        "servers": [{ "url": "api/1" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": { "Refusal": {
                "description": "Why there is no answer, and what can be done",
                "content": { JSON: { "schema": {
                    "type": "object",
                    "properties": { "error": text(), "hint": text() },
                    "required": ["error", "hint"],
                }}},
            }},
        },
    })
}

const JSON: &str = "application/json";

fn text() -> Value {
    json!({ "type": "string" })
}

fn id() -> Value {
    json!({
        "name": "id", "in": "path", "required": true,
        "schema": { "type": "integer", "minimum": 1 },
        "description": "The number of a log in /logs",
    })
}

/// The one thing that is posted.
fn script() -> Value {
    let refusal = json!({ "$ref": "#/components/responses/Refusal" });
    let answer = json!({ "description": "What it printed and drew", "content": { JSON: {} } });
    json!({ "post": {
        "summary": "Runs a script about a log: doc/SCRIPTS.md",
        "parameters": [id()],
        "requestBody": { "required": true, "content": { "text/plain": { "schema": text() } } },
        "responses": { "200": answer, "404": refusal, "413": refusal, "422": refusal },
    }})
}

fn parameters(question: &Question, command: &Command) -> Vec<Value> {
    let words = question.words.iter().map(|word| (*word, true));
    let options = question.options.iter().map(|option| (*option, false));
    let known = words.chain(options).filter_map(|(name, is_word)| {
        let is_it = |arg: &&Arg| match is_word {
            true => arg.get_id() == name,
            false => arg.get_long() == Some(name),
        };
        let found = command.get_arguments().find(is_it)?;
        Some(parameter(name, found, is_word))
    });
    std::iter::once(id()).chain(known).collect()
}

fn parameter(name: &str, arg: &Arg, is_required: bool) -> Value {
    let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().map(|value| value.get_name()).collect();
    let mut schema = match arg.get_action() {
        ArgAction::SetTrue => json!({ "type": "string", "enum": ["1", "0"] }),
        _ if values.is_empty() => text(),
        _ => json!({ "type": "string", "enum": values }),
    };
    let default = arg.get_default_values().first();
    if let Some(default) = default.and_then(|default| default.to_str()) {
        schema["default"] = default.into();
    }
    // Some take two, one after the other.
    let count = arg.get_num_args().map_or(1, |count| count.max_values());
    if count > 1 {
        schema = json!({ "type": "array", "items": schema, "minItems": count, "maxItems": count });
    }
    json!({
        "name": name,
        "in": "query",
        "required": is_required,
        "schema": schema,
        "description": about,
    })
}

fn of_diff() -> Vec<Value> {
    let mut all = parameters(&question::DIFF, &(question::DIFF.command)());
    // Its moments have names here.
    all.retain(|parameter| parameter["name"] != "at");
    let own = [
        ("before", "The moment before; rss-peak if it is left out"),
        ("after", "The moment after; rss-peak if it is left out"),
        (
            "other",
            "The number of the log before; this one if it is left out",
        ),
    ];
    all.extend(own.map(|(name, about)| {
        json!({
            "name": name, "in": "query", "required": false, "schema": text(),
            "description": about,
        })
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is a parameter in the code is one in the description.
    #[test]
    fn each_parameter_is_described() {
        let told = describe();
        for question::Asked { question, .. } in &question::ALL {
            let path = format!("/logs/{{id}}/{}", question.name);
            let list = told["paths"][&path]["get"]["parameters"].as_array();
            let list = list.expect(question.name);
            let names = question.words.iter().chain(question.options);
            assert_eq!(list.len(), 1 + names.clone().count(), "{}", question.name);
            for name in names {
                let one = list.iter().find(|one| one["name"] == **name);
                let about = one.expect(name)["description"].as_str();
                assert!(about.is_some_and(|about| !about.is_empty()), "{name}");
            }
        }
        let diff = &told["paths"]["/logs/{id}/diff"]["get"]["parameters"];
        assert_eq!(diff.as_array().map(Vec::len), Some(8));
    }

    /// Nothing here names a file of this machine, or writes one.
    #[test]
    fn no_parameter_names_a_file() {
        for question::Asked { question, .. } in &question::ALL {
            for option in question.options {
                let command = (question.command)();
                let found = command
                    .get_arguments()
                    .find(|arg| arg.get_long() == Some(option));
                let names = found.expect(option).get_value_names().unwrap_or_default();
                let is_file = |name: &str| {
                    ["FILE", "DIR", "OUT", "PATH"]
                        .iter()
                        .any(|word| name.contains(word))
                };
                assert!(!names.iter().any(|name| is_file(name)), "{option}");
            }
        }
    }
}
