//! The examples of the specification's own table ("style values"), and what it leaves open.

use serde_json::{Value, json};

use super::*;
use crate::operation::ParameterStyle::{
    Cookie, DeepObject, Form, Label, Matrix, PipeDelimited, Simple, SpaceDelimited, TabDelimited,
};

fn writing(style: ParameterStyle, explode: bool) -> StyleWriter<'static> {
    StyleWriter { name: "color", style, explode, encoding: Encoding::Strict }
}

fn pairs(style: ParameterStyle, explode: bool, value: &Value) -> String {
    joined(&writing(style, explode).pairs(value), "&")
}

fn joined(pairs: &[EncodedPair], between: &str) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|EncodedPair { name, value }| format!("{name}={}", value.as_deref().unwrap_or("-")))
        .collect();
    pairs.join(between)
}

#[test]
fn paths_and_headers_are_written_as_the_table_says() {
    let list = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    #[rustfmt::skip]
    let table = [
        (Matrix, false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"),
        (Matrix, true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"),
        (Label, false, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"),
        (Label, true, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"),
        (Simple, false, "", "blue", "blue,black,brown", "R,100,G,200,B,150"),
        (Simple, true, "", "blue", "blue,black,brown", "R=100,G=200,B=150"),
    ];
    for (style, explode, empty, string, array, fields) in table {
        let text = |value: &Value| writing(style, explode).text(value);
        let got = [text(&json!("")), text(&json!("blue")), text(&list), text(&object)];
        let expected = [empty, string, array, fields].map(|text| Some(text.to_owned()));
        assert_eq!(got, expected, "{style:?} {explode}");
        for nothing in [json!(null), json!([]), json!({}), json!([null]), json!({"R": null})] {
            assert_eq!(text(&nothing), None, "{style:?} {explode} {nothing}");
        }
    }
}

#[test]
fn queries_are_written_as_the_table_says() {
    let list = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    let spilled = "R=100&G=200&B=150";
    let repeated = "color=blue&color=black&color=brown";
    #[rustfmt::skip]
    let table = [
        (Form, false, "color=blue,black,brown", "color=R,100,G,200,B,150"),
        (Form, true, repeated, spilled),
        (SpaceDelimited, false, "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"),
        (PipeDelimited, false, "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"),
        (TabDelimited, false, "color=blue%09black%09brown", "color=R%09100%09G%09200%09B%09150"),
        // The table has no entry for these: they are what `form` is.
        (SpaceDelimited, true, repeated, spilled),
        (PipeDelimited, true, repeated, spilled),
    ];
    for (style, explode, array, fields) in table {
        let got = [&json!(""), &json!("blue"), &list, &object].map(|v| pairs(style, explode, v));
        assert_eq!(got, ["color=", "color=blue", array, fields], "{style:?} {explode}");
        for nothing in [json!(null), json!([]), json!({})] {
            assert_eq!(pairs(style, explode, &nothing), "", "{style:?} {explode} {nothing}");
        }
    }
    let deep = "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150";
    assert_eq!(pairs(DeepObject, true, &object), deep);
}

#[test]
fn cookies_are_written_as_the_table_says() {
    let writing = |explode| StyleWriter { encoding: Encoding::Raw, ..writing(Cookie, explode) };
    let cookie = |explode, value: &Value| joined(&writing(explode).pairs(value), "; ");
    let list = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    assert_eq!(cookie(false, &json!("")), "color=");
    assert_eq!(cookie(false, &json!("blue")), "color=blue");
    assert_eq!(cookie(false, &list), "color=blue,black,brown");
    assert_eq!(cookie(false, &object), "color=R,100,G,200,B,150");
    assert_eq!(cookie(true, &list), "color=blue; color=black; color=brown");
    assert_eq!(cookie(true, &object), "R=100; G=200; B=150");
}

#[test]
fn a_deep_object_nests_lists_and_objects() {
    let value = json!({
        "from": {"gte": 1, "lt": null, "zone": {"id": "a b"}},
        "tags": ["x", "y&z"],
        "items": [{"price": "p1"}, {"price": "p2", "n": [1]}],
        "odd]&key": true,
    });
    assert_eq!(
        percent_encoding::percent_decode_str(&pairs(DeepObject, true, &value)).decode_utf8_lossy(),
        "color[from][gte]=1&color[from][zone][id]=a b&color[tags][]=x&color[tags][]=y&z&\
         color[items][0][price]=p1&color[items][1][price]=p2&color[items][1][n][]=1&\
         color[odd]&key]=true"
    );
    assert!(pairs(DeepObject, true, &value).contains("color%5Bodd%5D%26key%5D=true"));
    assert_eq!(pairs(DeepObject, true, &json!(["a", "b"])), "color%5B%5D=a&color%5B%5D=b");
    assert_eq!(pairs(DeepObject, true, &json!(7)), "color=7");
}

#[test]
fn delimiters_and_separators_within_values_are_encoded() {
    let value = json!(["a,b", "c|d", "e f", "g&h=i"]);
    assert_eq!(pairs(Form, false, &value), "color=a%2Cb,c%7Cd,e%20f,g%26h%3Di");
    let nested = json!([["a", 1], {"b": null}]);
    assert_eq!(pairs(Form, false, &nested), "color=%5B%22a%22%2C1%5D,%7B%22b%22%3Anull%7D");
    let numbers = json!([1, 1.5, -2, true, 1e21]);
    assert_eq!(pairs(Form, false, &numbers), "color=1,1.5,-2,true,1e%2B21");
}
