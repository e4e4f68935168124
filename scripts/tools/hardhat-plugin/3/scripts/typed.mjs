/** Sends by the defaults of Hardhat 3 to the node at NODE_URL, and prints the receipts. */
import hre from 'hardhat'

const { ethers } = await hre.network.create('local')
const [signer, other] = await ethers.getSigners()
const vault = await ethers.deployContract('Vault', [86_400])
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 2_000_000_000n }
const sent = [
  await signer.sendTransaction({ to: other.address, value: 1n }),
  vault.deploymentTransaction(),
  await vault.deposit({ value: 5n }),
  await signer.sendTransaction({ to: other.address, value: 1n, ...fees }),
]
const receipts = await Promise.all(sent.map((one) => one.wait()))
console.log(JSON.stringify(receipts.map(({ status, type }) => ({ status, type }))))
