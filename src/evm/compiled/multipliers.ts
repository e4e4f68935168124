/** Odd factors for the sums that tables of compiled code are indexed by: fractions of square roots of primes. */
export const MULTIPLIERS = [
  0x6a09e667f3bcc909n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const
