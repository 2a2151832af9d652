//! The golden vectors of `tests/vectors`, which the Python tests read too.

use fedrank_core::mallows::Phi;
use fedrank_core::scheme::refine::{Vote, Window};
use fedrank_core::scheme::{Dispersion, Refine};
use fedrank_core::secagg::Identity;
use fedrank_core::secagg::envelope::{self, Direction, Header};
use fedrank_core::{Interrupt, Rankings, footrule, golomb, kendall, lehmer};
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

/// Rankings one after the other, and how many items each has.
fn matrix(value: &Value) -> (Vec<u32>, usize) {
    let rows: Vec<Vec<u32>> = value.as_array().expect("rows").iter().map(numbers).collect();
    (rows.concat(), rows[0].len())
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|n| usize::try_from(n).ok()).expect("a whole number")
}

fn entries(value: &Value) -> Vec<u64> {
    let entries = value.as_array().expect("a list").iter();
    entries.map(|entry| entry.as_u64().expect("a whole number")).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("hexadecimal");
    let byte = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("a byte");
    (0..text.len()).step_by(2).map(byte).collect()
}

#[test]
fn refine_messages() {
    for case in cases("refine") {
        let ((rankings, n), (announced, _)) =
            (matrix(&case["rankings"]), matrix(&case["announced"]));
        let vote = match (case["counts"].as_bool(), case["majority"].as_bool()) {
            (Some(true), _) => Vote::Counted,
            (_, Some(true)) => Vote::Majority,
            _ => Vote::Margins,
        };
        let announced = Rankings::new(&announced, n).expect("rankings");
        let (clients, most) = (number(&case["clients"]), number(&case["max_samples"]));
        let window = case["window"].as_u64().map_or(Window::Auto, |w| Window::Fixed(w as usize));
        let scheme =
            Refine::new(announced, clients, Some(most), window, vote, false).expect("a scheme");
        let rankings = Rankings::new(&rankings, n).expect("rankings");
        let (message, _) =
            scheme.encode(rankings, [0; 32], Interrupt::begin()).expect("few enough rankings");
        assert_eq!(message, entries(&case["message"]), "{case}");
        let packed = scheme.layout().pack(&message).expect("it fits");
        assert_eq!(Some(hexadecimal(&packed).as_str()), case["packed"].as_str(), "{case}");
    }
}

#[test]
fn dispersion_messages_and_fits() {
    for case in cases("dispersion") {
        let (rankings, n) = matrix(&case["rankings"]);
        let announced = numbers(&case["announced"]);
        let announced = Rankings::new(&announced, n).expect("a ranking");
        let (clients, most) = (number(&case["clients"]), number(&case["max_samples"]));
        let scheme = Dispersion::new(announced, clients, most).expect("a scheme");
        let rankings = Rankings::new(&rankings, n).expect("rankings");
        let message = scheme.encode(rankings, Interrupt::begin()).expect("few enough rankings");
        assert_eq!(message, entries(&case["message"]), "{case}");
        let packed = scheme.layout().pack(&message).expect("it fits");
        assert_eq!(Some(hexadecimal(&packed).as_str()), case["packed"].as_str(), "{case}");
        let fit = scheme.decode(&message, 1).expect("a possible total");
        for (got, want) in [(fit.phi, &case["phi"]), (fit.error, &case["standard_error"])] {
            let want = want.as_f64().expect("a number");
            assert!((got - want).abs() <= 1e-9 * want, "{case}: {got}");
        }
    }
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
        let bytes = bytes(&case["bytes"]);
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
        let far =
            footrule::distances(a.expect("a ranking"), b.expect("a ranking"), Interrupt::begin());
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
        let key = bytes(&case["seed"]).try_into().expect("32 bytes");
        let phi = Phi::new(case["phi"].as_f64().expect("a number")).expect("in range");
        let center = numbers(&case["center"]);
        let center = Rankings::new(&center, center.len()).expect("a ranking");
        let rows: Vec<Vec<u32>> =
            case["ranks"].as_array().expect("rows").iter().map(numbers).collect();
        let drawn =
            phi.sample(center, rows.len(), key, Interrupt::begin()).expect("it fits into memory");
        assert_eq!(drawn, rows.concat(), "{case}");
    }
}

#[test]
fn envelopes() {
    for case in cases("envelope") {
        let identity = |name: &str| {
            Identity::from_line(case[name].as_str().expect("a line")).expect("a private key")
        };
        let (sender, recipient) = (identity("sender"), identity("recipient"));
        let key = |name: &str| bytes(&case[name]).try_into().expect("32 bytes");
        let id = |name: &str| u16::try_from(number(&case[name])).expect("an id");
        let header = Header {
            direction: [Direction::ToClient, Direction::ToServer][number(&case["direction"])],
            round_digest: key("round_digest"),
            session: key("session"),
            step: u8::try_from(number(&case["step"])).expect("a step"),
            sender: id("sender_id"),
            recipient: id("recipient_id"),
        };
        let (body, blob) = (bytes(&case["body"]), bytes(&case["blob"]));
        assert_eq!(envelope::seal(&sender, recipient.public(), &header, &body), blob);
        assert_eq!(envelope::header_of(&blob), Ok(header));
        let (opened, text) =
            envelope::open(&recipient, sender.public(), &blob).expect("an envelope");
        assert_eq!((opened, &*text), (header, &body));
    }
}
