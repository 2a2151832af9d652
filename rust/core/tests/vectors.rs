//! The golden vectors of `tests/vectors`, which the Python tests read too.

use fedrank_core::mallows::Phi;
use fedrank_core::{Rankings, footrule, golomb, kendall, lehmer};
use serde_json::Value;

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    let file: Value = serde_json::from_str(&text).expect("it is JSON");
    let cases = file["cases"].as_array().expect("it has cases").clone();
    assert!(!cases.is_empty());
    cases
}

fn numbers(value: &Value) -> Vec<u32> {
    let numbers = value.as_array().expect("a list").iter();
    numbers.map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()).expect("a rank")).collect()
}

#[test]
fn lehmer_codes() {
    for case in cases("lehmer") {
        let (ranks, code) = (numbers(&case["ranks"]), numbers(&case["code"]));
        assert_eq!(lehmer::encode(&ranks).as_ref(), Ok(&code));
        assert_eq!(lehmer::decode(&code), Ok(ranks));
    }
}

#[test]
fn golomb_codes() {
    for case in cases("golomb") {
        let rows: Vec<Vec<u32>> =
            case["codes"].as_array().expect("rows").iter().map(numbers).collect();
        let parameter = &case["parameter"];
        let parameters = if parameter.is_array() {
            numbers(parameter)
        } else {
            numbers(&[parameter.clone()][..].into())
        };
        let text = case["bytes"].as_str().expect("hexadecimal");
        let byte = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("a byte");
        let bytes: Vec<u8> = (0..text.len()).step_by(2).map(byte).collect();
        let (n, codes) = (rows[0].len(), rows.concat());
        assert_eq!(golomb::encode(&codes, n, &parameters).as_ref(), Ok(&bytes), "{case}");
        assert_eq!(golomb::decode(&bytes, rows.len(), n, &parameters), Ok(codes), "{case}");
    }
}

#[test]
fn distances() {
    for case in cases("kendall") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        assert_eq!(kendall::distance(&a, &b).ok(), case["kendall"].as_u64());
        let (a, b) = (Rankings::new(&a, a.len()), Rankings::new(&b, b.len()));
        let far = footrule::distances(a.expect("a ranking"), b.expect("a ranking"));
        assert_eq!(far.expect("of the same items")[0], case["footrule"].as_u64().expect("a sum"));
    }
}

#[test]
fn expected_ranks() {
    for case in cases("expected_ranks") {
        let expected = case["expected"].as_array().expect("a list");
        let phi = Phi::new(case["phi"].as_f64().expect("a number")).expect("in range");
        for (got, want) in phi.expected_ranks(expected.len()).iter().zip(expected) {
            let want = want.as_str().map_or(want.as_f64(), |text| text.parse().ok());
            let want = want.expect("a number");
            assert!((got - want).abs() <= 1e-12 * want, "{case}: {got} for {want}");
        }
    }
}

#[test]
fn mallows_samples() {
    for case in cases("mallows_sample") {
        let seed = case["seed"].as_str().expect("hexadecimal");
        let byte = |i: usize| u8::from_str_radix(&seed[2 * i..2 * i + 2], 16).expect("a byte");
        let key = std::array::from_fn(byte);
        let phi = Phi::new(case["phi"].as_f64().expect("a number")).expect("in range");
        let center = numbers(&case["center"]);
        let center = Rankings::new(&center, center.len()).expect("a ranking");
        let rows: Vec<Vec<u32>> =
            case["ranks"].as_array().expect("rows").iter().map(numbers).collect();
        let drawn = phi.sample(center, rows.len(), key).expect("it fits into memory");
        assert_eq!(drawn, rows.concat(), "{case}");
    }
}
