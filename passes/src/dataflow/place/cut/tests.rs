#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use super::*;

fn net(weight: u64, pins: &[u32]) -> Net {
    let pins = pins.to_vec();
    Net { weight, pins }
}

fn problem(count: usize, nets: Vec<Net>) -> Problem {
    Problem {
        weights: vec![1; count],
        fixed: vec![None; count],
        nets,
    }
}

/// What the nets cost that are cut, counted once for each part but the first.
fn cost(problem: &Problem, part_of: &[u32]) -> u64 {
    let parts = |net: &Net| {
        let mut parts: Vec<u32> = net.pins.iter().map(|&p| part_of[p as usize]).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.len() as u64 - 1
    };
    problem.nets.iter().map(|n| n.weight * parts(n)).sum()
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// Groups of eight vertices with many nets inside, and few between groups that follow each other.
fn clusters(count: u32) -> Problem {
    let mut nets = Vec::new();
    for at in 0..count {
        let base = at * 8;
        for i in 0..8 {
            nets.push(net(10, &[base + i, base + (i + 1) % 8]));
            nets.push(net(10, &[base + i, base + (i + 3) % 8, base + (i + 5) % 8]));
        }
        if at > 0 {
            nets.push(net(1, &[base, base - 1]));
        }
    }
    problem(count as usize * 8, nets)
}

#[test]
fn a_narrow_place_is_cut() {
    let two = clusters(2);
    let part_of = assign(&two, 2);
    assert_eq!(cost(&two, &part_of), 1);
    assert_eq!(part_of.iter().filter(|&&p| p == 0).count(), 8);
    let four = clusters(4);
    assert_eq!(cost(&four, &assign(&four, 4)), 3);
}

#[test]
fn a_value_is_sent_to_a_part_once() {
    // Cutting the wide net costs 3 and not 3 for each reader.
    let nets = vec![net(3, &[0, 1, 2, 3]), net(2, &[0, 1]), net(2, &[2, 3]), net(2, &[0, 2])];
    let four = problem(4, nets);
    assert_eq!(assign(&four, 2), [0, 0, 1, 1]);
}

#[test]
fn what_is_fixed_stays() {
    let mut two = clusters(2);
    two.fixed[0] = Some(1);
    two.fixed[15] = Some(0);
    let part_of = assign(&two, 2);
    assert_eq!((part_of[0], part_of[15]), (1, 0));
    assert_eq!(cost(&two, &part_of), 1);
}

#[test]
fn large_parts_are_balanced() {
    let chain = problem(3000, (1..3000).map(|i| net(5, &[i - 1, i])).collect());
    for parts in [2, 3, 7] {
        let part_of = assign(&chain, parts);
        for part in 0..parts {
            let size = part_of.iter().filter(|&&p| p == part).count();
            let ideal = 3000 / parts as usize;
            assert!(size > ideal / 2 && size < ideal * 2, "{size} of {ideal}");
        }
        // A chain needs one cut for each part but the first; coarsening may cost a little.
        assert!(cost(&chain, &part_of) <= 5 * u64::from(parts) * 3);
    }
    let islands = problem(500, Vec::new());
    let size = assign(&islands, 2).iter().filter(|&&p| p == 0).count();
    assert!((200..=300).contains(&size));
}

/// The cheapest of all ways to cut small hypergraphs into two parts of nearly the same size.
#[test]
fn cuts_are_near_the_best() {
    let mut random = Random(1);
    let (mut ours, mut least) = (0, 0);
    for _ in 0..200 {
        let count = 4 + random.below(7) as u32;
        let nets = (0..count * 2).map(|_| {
            let pins = (0..2 + random.below(2))
                .map(|_| random.below(u64::from(count)) as u32)
                .collect();
            Net {
                weight: 1 + random.below(9),
                pins,
            }
        });
        let mut p = problem(count as usize, nets.collect());
        p.nets = restrict(&p.nets, Some);
        let part_of = assign(&p, 2);
        ours += cost(&p, &part_of);
        // The complement of the set is on the left.
        let goal = Goal {
            target: u64::from(count / 2),
            slack: u64::from(count / 10),
        };
        let left = |set: u32| u64::from(count - set.count_ones());
        let fair = goal.misses(left(part_of.iter().zip(0..).map(|(p, i)| p << i).sum()));
        assert!(fair <= 1, "{part_of:?}");
        let all = (0_u32..1 << count).filter(|set| goal.misses(left(*set)) <= fair);
        least += all
            .map(|set| cost(&p, &(0..count).map(|i| set >> i & 1).collect::<Vec<_>>()))
            .min()
            .unwrap();
    }
    assert!(ours * 10 <= least * 13, "{ours} against {least}");
}

#[test]
fn nothing_and_one_are_no_trouble() {
    assert!(assign(&problem(0, Vec::new()), 4).is_empty());
    assert_eq!(assign(&problem(1, Vec::new()), 4).len(), 1);
    assert_eq!(assign(&problem(3, Vec::new()), 1), [0, 0, 0]);
}
