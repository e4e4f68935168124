/** The method of a transaction in a list, and whether the transaction failed. */
import type { Hex } from '../format.ts'
import type { Method } from '../methods.ts'

/** `status` is that of the receipt; absent while the transaction is pending. */
export function MethodName({
  method: { name, text = name },
  status,
}: {
  readonly method: Method
  readonly status?: Hex | undefined
}) {
  return (
    <span class={name === 'REMASC' ? 'method dim' : 'method'} title={text}>
      {status === '0x0' && <span class="badge bad">failed</span>} {name}
    </span>
  )
}
