d.attributes () {a = 1, b, c = 1}
d.sme ()
