//! Hostile messages of protobuf.

const DEEP: usize = 100_000;

fn number(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field with bytes.
fn field(number_of_it: usize, bytes: &[u8]) -> Vec<u8> {
    [number(number_of_it << 3 | 2), number(bytes.len()), bytes.to_vec()].concat()
}

/// Messages in each other.
fn nested(number_of_it: usize) -> Vec<u8> {
    let (mut heads, mut length) = (Vec::new(), 0);
    for _ in 0..DEEP {
        let head = [number(number_of_it << 3 | 2), number(length)].concat();
        length += head.len();
        heads.push(head);
    }
    heads.reverse();
    heads.concat()
}

fn node(name: &str, op: &str, rest: &[Vec<u8>]) -> Vec<u8> {
    let node = [field(1, name.as_bytes()), field(2, op.as_bytes()), rest.concat()].concat();
    field(1, &node)
}

fn attr(key: &str, value: &[u8]) -> Vec<u8> {
    field(5, &[field(1, key.as_bytes()), field(2, value)].concat())
}

/// A tensor of floats with one element and these extents.
fn tensor(extents: &[usize]) -> Vec<u8> {
    let extent = |&extent: &usize| field(2, &[vec![8], number(extent)].concat());
    let shape: Vec<u8> = extents.iter().flat_map(extent).collect();
    field(
        8,
        &[vec![8, 1], field(2, &shape), field(5, &1.0f32.to_le_bytes())].concat(),
    )
}

/// All messages, each with its name.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let float = || attr("dtype", &[0x30, 1]);
    let constant = |value: &[u8]| node("a", "Const", &[float(), attr("value", value)]);
    let mut table = Vec::new();
    for at in 1..=12 {
        table.push((format!("a graph of messages {at} in each other"), constant(&nested(at))));
        let block = [vec![8, 0, 16, 0], field(3, &nested(at))].concat();
        table.push((format!("a program of messages {at} in each other"), field(1, &block)));
    }
    let circle = (0..1000).flat_map(|at| {
        let input = field(3, format!("n{}", (at + 1) % 1000).as_bytes());
        node(&format!("n{at}"), "Identity", &[input])
    });
    table.push(("a graph in a circle".to_owned(), circle.collect()));
    let own = node("a", "Identity", &[field(3, b"a")]);
    table.push(("a node that reads itself".to_owned(), own));
    table.push(("nodes of one name".to_owned(), node("a", "NoOp", &[]).repeat(20_000)));
    for (name, extents) in [
        ("more elements than numbers", &[1 << 40, 1 << 40][..]),
        ("more elements than memory", &[1 << 36]),
        ("elements and none", &[usize::MAX, 0]),
    ] {
        table.push((format!("a constant of {name}"), constant(&tensor(extents))));
    }
    table
}
