/** Where transactions spent gas, as plain values. */

/** Gas of transactions of one kind. */
export interface GasStats {
  contract: string
  /** Absent for deployments. */
  function?: string | undefined
  calls: number
  min: number
  max: number
  total: number
}

/** A frame of a stack. */
export interface GasFrame {
  name: string
  contract?: string | undefined
  file?: string | undefined
  /** Of the declaration of a function, or of a line. */
  line?: number | undefined
}

/** Gas of a function. */
interface FunctionGas {
  contract: string
  function: string
  file?: string | undefined
  line?: number | undefined
  calls: number
  /** Without what it called. */
  self: number
  total: number
}

/** Where gas went. All gas is that of transactions; `gasUsed` is what their receipts have, the sum of `stacks` without `refunds`. */
export interface GasReport {
  transactions: number
  gasUsed: number
  /** Taken off at the end of transactions. */
  refunds: number
  deployments: GasStats[]
  methods: GasStats[]
  functions: FunctionGas[]
  lines: { file: string; line: number; gas: number }[]
  opcodes: { contract: string; group: string; gas: number }[]
  frames: GasFrame[]
  /** Gas that the last frame of a stack spent itself; `frames` are places in `frames`. The last one is a line where its source is known. */
  stacks: { frames: number[]; gas: number }[]
  notes: string[]
}
