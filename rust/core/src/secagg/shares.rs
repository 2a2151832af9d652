//! Shamir's secret sharing over GF(2^16) (M10).
//!
//! In this field every 16-bit word is an element. Uniform coefficients are therefore plain
//! keystream, with nothing to reject and no bias; a share is as long as its secret; and a roster
//! may have 65,535 clients, where GF(2^8) stops at 255. A secret is shared word by word, with
//! independent coefficients.
//!
//! Multiplication is always by a public number (a client's point, or a Lagrange weight made of
//! points), so it branches on that one alone. Secret words meet only shifts, xors and ands.

use zeroize::{Zeroize, Zeroizing};

use super::error::{Result, check};
use crate::interrupt::Interrupt;

/// The low bits of x^16 + x^12 + x^3 + x + 1, which is primitive.
const MODULUS: u16 = 0x100b;

/// `words` times the public element `by`, word by word.
fn scale<const N: usize>(words: &mut [u16; N], by: u16) {
    let mut product = [0_u16; N];
    for bit in (0..16 - by.leading_zeros()).rev() {
        for (p, &w) in product.iter_mut().zip(&*words) {
            // Times x: the bit shifted out, spread over the word, brings in the modulus.
            *p = (*p << 1) ^ ((*p >> 15).wrapping_neg() & MODULUS);
            if by >> bit & 1 == 1 {
                *p ^= w;
            }
        }
    }
    words.copy_from_slice(&product);
    product.zeroize();
}

fn multiply(a: u16, b: u16) -> u16 {
    let mut product = [a];
    scale(&mut product, b);
    product[0]
}

/// `1/a` as a^(2^16 - 2); 0 for 0.
fn invert(a: u16) -> u16 {
    let (mut power, mut inverse) = (a, 1);
    for _ in 1..16 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
    }
    inverse
}

/// The share at `point` of the polynomial `secret + coefficients[0] x + coefficients[1] x^2 …`.
///
/// Constant time but for `point` and the number of coefficients, t - 1.
pub(super) fn evaluate<const N: usize>(
    secret: &[u16; N],
    coefficients: &[[u16; N]],
    point: u16,
) -> Zeroizing<[u16; N]> {
    let mut value = Zeroizing::new([0; N]);
    for term in coefficients.iter().rev().chain([secret]) {
        scale(&mut value, point);
        add(&mut value, term);
    }
    value
}

/// Lagrange weights that take shares at `points` (distinct, none 0) to the value at 0:
///
/// ```text
/// w_j = Π_{m ≠ j} x_m / (x_m - x_j)
/// ```
///
/// # Errors
/// [`Error::Interrupted`](super::Error::Interrupted) if `interrupt` says so.
pub(super) fn weights(points: &[u16], interrupt: Interrupt<'_>) -> Result<Vec<u16>> {
    let weight = |&own: &u16| {
        check(interrupt)?;
        let others = points.iter().filter(|&&other| other != own);
        let (above, below) = others.fold((1, 1), |(above, below), &other| {
            (multiply(above, other), multiply(below, other ^ own))
        });
        Ok(multiply(above, invert(below)))
    };
    points.iter().map(weight).collect()
}

/// The secret: the sum of `shares`, each times its weight.
pub(super) fn combine<'a, const N: usize>(
    weights: &[u16],
    shares: impl Iterator<Item = &'a [u16; N]>,
) -> Zeroizing<[u16; N]> {
    let mut secret = Zeroizing::new([0; N]);
    for (&weight, share) in weights.iter().zip(shares) {
        let mut term = Zeroizing::new(*share);
        scale(&mut term, weight);
        add(&mut secret, &term);
    }
    secret
}

fn add<const N: usize>(sum: &mut [u16; N], term: &[u16; N]) {
    for (s, t) in sum.iter_mut().zip(term) {
        *s ^= t;
    }
}

/// Little-endian words of `bytes`; missing bytes are zero.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> Zeroizing<[u16; N]> {
    let mut words = Zeroizing::new([0; N]);
    for (word, pair) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u16::from_le_bytes(*pair);
    }
    words
}

/// The inverse of [`words`].
pub(super) fn bytes<const M: usize>(words: &[u16]) -> Zeroizing<[u8; M]> {
    let mut bytes = Zeroizing::new([0; M]);
    for (pair, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *pair = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weights(points: &[u16]) -> Vec<u16> {
        super::weights(points, Interrupt::begin()).expect("no interrupt")
    }

    /// Schoolbook: multiply as polynomials over GF(2), then divide by the modulus.
    fn multiply_slowly(a: u16, b: u16) -> u16 {
        let mut product =
            (0..16).fold(0_u32, |p, i| p ^ ((u32::from(a) << i) * u32::from(b >> i & 1)));
        for i in (16..32).rev() {
            if product >> i & 1 == 1 {
                product ^= 0x1_100b << (i - 16);
            }
        }
        product as u16
    }

    #[test]
    fn the_modulus_is_primitive() {
        // x returns to 1 after 2^16 - 1 steps and not before, so every nonzero word has an inverse.
        let (mut power, mut order) = (2, 1);
        while power != 1 {
            power = multiply_slowly(power, 2);
            order += 1;
        }
        assert_eq!(order, 65_535);
    }

    #[test]
    fn every_element_has_its_inverse() {
        assert!((1..=u16::MAX).all(|a| multiply_slowly(a, invert(a)) == 1));
    }

    #[test]
    fn two_of_two_by_hand() {
        // f(x) = 0x1234 + 3x: f(1) = 0x1237, f(2) = 0x1234 ^ 6.
        assert_eq!(*evaluate(&[0x1234], &[[3]], 1), [0x1237]);
        assert_eq!(*evaluate(&[0x1234], &[[3]], 2), [0x1232]);
        // At 1 and 2: w = 2/(2-1), 1/(1-2) = 2/3, 1/3.
        let third = invert(3);
        assert_eq!(weights(&[1, 2]), [multiply_slowly(2, third), third]);
        assert_eq!(*combine(&weights(&[1, 2]), [[0x1237], [0x1232]].iter()), [0x1234]);
    }

    #[test]
    fn fewer_than_t_shares_fit_every_secret() {
        // t = 3: whatever two shares say, exactly one polynomial goes through them and each
        // secret. Checked by rebuilding the coefficients for a few thousand secrets.
        let (a, b) = ((5, 0xbeef), (9, 0x0123));
        for secret in (0..=u16::MAX).step_by(17) {
            // Solve c x + d x^2 = y - secret at both points.
            let rhs = |(x, y): (u16, u16)| multiply_slowly(y ^ secret, invert(x));
            let d = multiply_slowly(rhs(a) ^ rhs(b), invert(a.0 ^ b.0));
            let c = rhs(a) ^ multiply_slowly(d, a.0);
            assert_eq!(*evaluate(&[secret], &[[c], [d]], a.0), [a.1]);
            assert_eq!(*evaluate(&[secret], &[[c], [d]], b.0), [b.1]);
        }
    }

    proptest! {
        #[test]
        fn products_match_the_schoolbook(a: u16, b: u16) {
            prop_assert_eq!(multiply(a, b), multiply_slowly(a, b));
        }

        #[test]
        fn shares_are_values_of_the_polynomial(
            secret: [u16; 2], terms in prop::collection::vec(any::<[u16; 2]>(), 0..9), x: u16,
        ) {
            let share = evaluate(&secret, &terms, x);
            for word in 0..2 {
                let (mut sum, mut power) = (secret[word], 1);
                for term in &terms {
                    power = multiply_slowly(power, x);
                    sum ^= multiply_slowly(term[word], power);
                }
                prop_assert_eq!(share[word], sum);
            }
        }

        #[test]
        fn any_t_shares_give_the_secret(
            secret: [u16; 4],
            terms in prop::collection::vec(any::<[u16; 4]>(), 0..7),
            points in prop::collection::btree_set(1_u16.., 8),
        ) {
            let points: Vec<u16> = points.into_iter().take(terms.len() + 1).collect();
            let shares: Vec<_> = points.iter().map(|&x| *evaluate(&secret, &terms, x)).collect();
            prop_assert_eq!(*combine(&weights(&points), shares.iter()), secret);
        }

        #[test]
        fn bytes_and_words_invert(b: [u8; 8]) {
            prop_assert_eq!(*bytes::<8>(&*words::<4>(&b)), b);
        }
    }
}
