/** Sends by the defaults of Hardhat 2, and prints the receipts: of a payment, a deployment, a call and one with fees. */
const { ethers } = require('hardhat')

async function main() {
  const [signer, other] = await ethers.getSigners()
  const token = await ethers.deployContract('Badge', [signer.address])
  await token.waitForDeployment()
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
  const sent = [
    await signer.sendTransaction({ to: other.address, value: 1n }),
    token.deploymentTransaction(),
    await token.grantRole(await token.MINTER_ROLE(), signer.address),
    await signer.sendTransaction({ to: other.address, value: 1n, ...fees }),
    await signer.sendTransaction({
      to: other.address,
      value: 1n,
      type: 1,
      gasPrice: 2_000_000_000n,
      accessList: [],
    }),
  ]
  const receipts = await Promise.all(sent.map((one) => one.wait()))
  console.log(JSON.stringify(receipts.map(({ status, type }) => ({ status, type }))))
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
