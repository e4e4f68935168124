/** `#/transaction` */

/** The page. */
export function TransactionPage() {
  return <h1>Transaction</h1>
}
