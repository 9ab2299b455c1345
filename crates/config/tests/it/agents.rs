//! Agents and their models, as the file says them.

use std::io;
use std::path::Path;

use toolcrib_agent::Price;
use toolcrib_agent::model::{TextCallFormat, TokenEngine};
use toolcrib_config::{Config, SecretLookup};

struct Nothing;

impl SecretLookup for Nothing {
    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn a_model_calls_by_its_api_if_the_file_names_no_form_of_its_text() {
    let forms = [
        ("", None),
        ("calls = \"api\"", None),
        ("calls = \"hermes\"", Some(TextCallFormat::Hermes)),
        ("calls = \"json\"", Some(TextCallFormat::Json)),
        ("calls = \"llama\"", Some(TextCallFormat::Llama)),
        ("calls = \"cline\"", Some(TextCallFormat::Cline)),
        ("calls = \"react\"", Some(TextCallFormat::React)),
    ];
    for (line, form) in forms {
        let text = format!("[model]\nkind = \"ollama\"\nname = \"m\"\n{line}\n");
        let read = Config::read(&text, "crib.toml");
        assert_eq!(read.problems, vec![], "{line}");
        let agents = read.config.unwrap().agents(&Nothing).unwrap();
        assert_eq!(agents[0].model.text_calls, form, "{line}");
    }
    let read = Config::read("[model]\nkind = \"ollama\"\nname = \"m\"\ncalls = \"xml\"\n", "c");
    assert!(read.problems[0].to_string().contains("calls"), "{:?}", read.problems);
}

#[test]
fn what_a_model_reads_at_a_time_leaves_room_for_a_question() {
    let read = |lines: &str| {
        let text = format!("[model]\nkind = \"ollama\"\nname = \"m\"\n{lines}\n");
        Config::read(&text, "crib.toml")
    };
    let good = read("context = 8192");
    assert_eq!(good.problems, vec![]);
    let agents = good.config.unwrap().agents(&Nothing).unwrap();
    assert_eq!(agents[0].model.context, Some(8192));
    let told = read("context = 4096").problems[0].to_string();
    assert!(told.contains("an answer of 4096 tokens leaves no room"), "{told}");
    assert_eq!(read("context = 4096\nmax_tokens = 1024").problems, vec![]);
}

#[test]
fn an_agent_names_checks_and_a_judge_that_there_are() {
    let models = "[[model]]\nid = \"a\"\nkind = \"ollama\"\nname = \"one\"\n[[model]]\nid = \"b\"\n\
                  kind = \"vllm\"\nname = \"two\"\n";
    let read = |lines: &str| {
        let text = format!("{models}[agent.x]\nmodel = \"a\"\n{lines}\n");
        Config::read(&text, "crib.toml")
    };
    let good = read("checks = [\"hallucination\", \"relevancy\"]\ngate = true\njudge = \"b\"");
    assert_eq!(good.problems, vec![]);
    let agent = good.config.unwrap().agents(&Nothing).unwrap().remove(0);
    let judge = agent.judge.unwrap().name;
    assert_eq!((agent.checks.len(), agent.gate, judge.as_str()), (2, true, "two"));
    for (lines, problem) in [
        ("checks = [\"truth\"]", "agent.x.checks[0]: there is no check `truth`"),
        ("judge = \"c\"", "agent.x.judge: there is no model `c`"),
    ] {
        let told = read(lines).problems[0].to_string();
        assert!(told.contains(problem), "{told}");
    }
}

#[test]
fn an_agent_has_models_that_are_asked_in_the_place_of_its_own() {
    let models = "[[model]]\nid = \"a\"\nkind = \"ollama\"\nname = \"one\"\n[[model]]\nid = \"b\"\n\
                  kind = \"vllm\"\nname = \"two\"\n";
    let read = |fallback: &str| {
        let text = format!("{models}[agent.x]\nmodel = \"a\"\nfallback = {fallback}\n");
        Config::read(&text, "crib.toml")
    };
    let good = read("[\"b\"]");
    assert_eq!(good.problems, vec![]);
    let agents = good.config.unwrap().agents(&Nothing).unwrap();
    let names: Vec<_> = agents[0].model.fallback.iter().map(|other| other.name.as_str()).collect();
    assert_eq!((agents[0].model.name.as_str(), names), ("one", vec!["two"]));
    for (fallback, problem) in [
        ("[\"c\"]", "agent.x.fallback[0]: there is no model `c`"),
        ("[\"a\"]", "agent.x.fallback[0]: the model `a` is asked already"),
        ("[\"b\", \"b\"]", "agent.x.fallback[1]: the model `b` is asked already"),
    ] {
        let told = read(fallback).problems[0].to_string();
        assert!(told.contains(problem), "{told}");
    }
}

#[test]
fn what_a_model_costs_is_known_of_its_provider_or_said_by_the_file() {
    let budget = "[agent.x]\nbudget = { cost = 1.0 }\n";
    let price = |model: &str| {
        let read = Config::read(&format!("[model]\n{model}\n{budget}"), "crib.toml");
        let problems: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        match read.config {
            Some(config) => Ok(config.agents(&Nothing).unwrap()[0].model.price.unwrap()),
            None => Err(problems.concat()),
        }
    };
    let sonnet = Price { input: 3.0, output: 15.0 };
    assert_eq!(price("kind = \"anthropic\"\nname = \"claude-sonnet-4-5\""), Ok(sonnet));
    let own = "kind = \"anthropic\"\nname = \"claude-sonnet-4-5\"\n\
               price = { input = 1, output = 2 }";
    assert_eq!(price(own), Ok(Price { input: 1.0, output: 2.0 }));
    for unknown in [
        "kind = \"anthropic\"\nname = \"claude-of-tomorrow\"",
        "kind = \"ollama\"\nname = \"claude-sonnet-4-5\"",
        "url = \"https://models.example.com/v1\"\nname = \"claude-sonnet-4-5\"",
    ] {
        let told = price(unknown).unwrap_err();
        assert!(told.contains("nobody knows what this model costs"), "{told}");
    }
}

#[test]
fn whoever_works_for_an_agent_with_a_limit_of_money_has_a_price() {
    let read = |price: &str| {
        let text = format!(
            "[[model]]\nid = \"own\"\nkind = \"anthropic\"\nname = \"claude-sonnet-4-5\"\n\
             [[model]]\nid = \"house\"\nkind = \"ollama\"\nname = \"qwen3\"\n{price}\
             [agent.boss]\nmodel = \"own\"\nspecialists = [\"office\"]\nbudget = {{ cost = 1.0 }}\n\
             [agent.office]\nmodel = \"own\"\nspecialists = [\"clerk\"]\n\
             [agent.clerk]\nmodel = \"house\"\n"
        );
        let read = Config::read(&text, "crib.toml");
        read.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = read("");
    let problem = "agent.boss.budget.cost: nobody knows what the model of `clerk` costs";
    assert!(matches!(told.as_slice(), [only] if only.contains(problem)), "{told:?}");
    assert_eq!(read("price = { input = 1, output = 2 }\n"), Vec::<String>::new());
}

#[test]
fn a_model_over_tokens_calls_in_its_words_and_has_no_other_in_its_place() {
    let read = |model: &str, rest: &str| {
        let own = "kind = \"vllm\"\nname = \"one\"";
        let other = "[[model]]\nid = \"b\"\nkind = \"ollama\"\nname = \"two\"\n";
        let text = format!("[[model]]\nid = \"a\"\n{own}\n{model}\n{other}{rest}");
        Config::read(&text, "crib.toml")
    };
    for (word, engine) in [
        ("vllm-generate", TokenEngine::VllmGenerate),
        ("sglang-generate", TokenEngine::SglangGenerate),
    ] {
        let good = read(&format!("engine = \"{word}\""), "[agent.x]\nmodel = \"a\"\n");
        assert_eq!(good.problems, vec![]);
        let agents = good.config.unwrap().agents(&Nothing).unwrap();
        assert_eq!(agents[0].model.engine, Some(engine));
    }
    let engine = "engine = \"vllm-generate\"";
    let called = format!("{engine}\ncalls = \"api\"");
    let first = "[agent.x]\nmodel = \"a\"\nfallback = [\"b\"]\n";
    let second = "[agent.x]\nmodel = \"b\"\nfallback = [\"a\"]\n";
    let unknown = "engine = \"sglang-native\"";
    for (model, rest, problem) in [
        (
            called.as_str(),
            "",
            "model[0].calls: an engine that answers with tokens calls in its words",
        ),
        (engine, first, "agent.x.fallback[0]: the tokens of the model `a` are nothing to another"),
        (engine, second, "agent.x.fallback[0]: the tokens of the model `a` are nothing to another"),
        (unknown, "", "sglang-generate"),
    ] {
        let told: Vec<_> = read(model, rest).problems.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains(problem), "{told:?}");
    }
    let of_others = "[[model]]\nkind = \"anthropic\"\nname = \"x\"\nengine = \"vllm-generate\"\n";
    let told = Config::read(of_others, "crib.toml").problems[0].to_string();
    assert!(told.contains("only a server of the chat API tells the tokens of a turn"), "{told}");
}
