const { expect } = require('chai')
const { ethers } = require('hardhat')
const { loadFixture, impersonateAccount, stopImpersonatingAccount, setBalance } =
  require('@nomicfoundation/hardhat-network-helpers')
const { anyUint, anyValue } = require('@nomicfoundation/hardhat-chai-matchers/withArgs')
const { PANIC_CODES } = require('@nomicfoundation/hardhat-chai-matchers/panic')

const SUPPLY = 1_000_000n

async function deployToken() {
  const [owner, alice, bob] = await ethers.getSigners()
  const token = await ethers.deployContract('Token', [SUPPLY])
  return { token, owner, alice, bob }
}

describe('ERC20', () => {
  it('has the metadata and the supply of its constructor', async () => {
    const { token, owner } = await loadFixture(deployToken)
    expect(await token.name()).to.equal('Token')
    expect(await token.decimals()).to.equal(18n)
    expect(await token.totalSupply()).to.equal(SUPPLY)
    expect(await token.balanceOf(owner)).to.equal(SUPPLY)
  })

  it('emits Transfer from the zero address at creation', async () => {
    const { token, owner } = await loadFixture(deployToken)
    await expect(token.deploymentTransaction())
      .to.emit(token, 'Transfer')
      .withArgs(ethers.ZeroAddress, owner, SUPPLY)
  })

  it('transfers, with an event and the balances of both', async () => {
    const { token, owner, alice } = await loadFixture(deployToken)
    const transfer = token.transfer(alice, 10n)
    await expect(transfer).to.emit(token, 'Transfer').withArgs(owner, alice, 10n)
    await expect(transfer).to.changeTokenBalances(token, [owner, alice], [-10n, 10n])
  })

  it('changes one balance by changeTokenBalance, given a function', async () => {
    const { token, bob } = await loadFixture(deployToken)
    await expect(() => token.transfer(bob, 3n)).to.changeTokenBalance(token, bob, 3n)
  })

  it('refuses a transfer beyond the balance with a custom error and its arguments', async () => {
    const { token, owner, alice } = await loadFixture(deployToken)
    await expect(token.connect(alice).transfer(owner, 1n))
      .to.be.revertedWithCustomError(token, 'ERC20InsufficientBalance')
      .withArgs(alice, 0n, 1n)
  })

  it('approves, and spends by transferFrom', async () => {
    const { token, owner, alice, bob } = await loadFixture(deployToken)
    await expect(token.approve(alice, 7n)).to.emit(token, 'Approval').withArgs(owner, alice, anyUint)
    await expect(token.connect(alice).transferFrom(owner, bob, 5n)).to.changeTokenBalances(
      token,
      [owner, bob],
      [-5n, 5n],
    )
    expect(await token.allowance(owner, alice)).to.equal(2n)
    await expect(token.connect(alice).transferFrom(owner, bob, 5n))
      .to.be.revertedWithCustomError(token, 'ERC20InsufficientAllowance')
      .withArgs(alice, 2n, 5n)
  })

  it('reverts with a panic where the supply overflows', async () => {
    const { token, alice } = await loadFixture(deployToken)
    await expect(token.mint(alice, ethers.MaxUint256)).to.be.revertedWithPanic(
      PANIC_CODES.ARITHMETIC_OVERFLOW,
    )
  })

  it('lets only its owner mint', async () => {
    const { token, alice } = await loadFixture(deployToken)
    await expect(token.connect(alice).mint(alice, 1n))
      .to.be.revertedWithCustomError(token, 'OwnableUnauthorizedAccount')
      .withArgs(alice)
    await expect(token.mint(alice, 1n)).to.changeTokenBalance(token, alice, 1n)
  })

  it('changes hands, and the new owner mints', async () => {
    const { token, owner, alice } = await loadFixture(deployToken)
    await expect(token.transferOwnership(alice)).to.emit(token, 'OwnershipTransferred').withArgs(owner, alice)
    await expect(token.mint(owner, 1n)).to.be.reverted
    await expect(token.connect(alice).mint(owner, 1n)).to.not.be.reverted
  })

  it('takes a permit signed with eth_signTypedData_v4', async () => {
    const { token, owner, alice } = await loadFixture(deployToken)
    const { chainId } = await ethers.provider.getNetwork()
    const domain = { name: 'Token', version: '1', chainId, verifyingContract: await token.getAddress() }
    const fields = [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ]
    const value = {
      owner: owner.address,
      spender: alice.address,
      value: 9n,
      nonce: 0n,
      deadline: ethers.MaxUint256,
    }
    const { v, r, s } = ethers.Signature.from(await owner.signTypedData(domain, { Permit: fields }, value))
    await expect(token.permit(owner, alice, 9n, ethers.MaxUint256, v, r, s)).to.emit(token, 'Approval')
    expect(await token.allowance(owner, alice)).to.equal(9n)
    await expect(token.permit(owner, alice, 9n, ethers.MaxUint256, v, r, s))
      .to.be.revertedWithCustomError(token, 'ERC2612InvalidSigner')
      .withArgs(anyValue, owner)
  })

  it('is used by an impersonated account that has no key', async () => {
    const { token, alice } = await loadFixture(deployToken)
    const whale = '0x00000000000000000000000000000000DeaDBeef'
    await token.mint(whale, 50n)
    await impersonateAccount(whale)
    await setBalance(whale, ethers.parseEther('1'))
    const signer = await ethers.getSigner(whale)
    await expect(token.connect(signer).transfer(alice, 50n)).to.changeTokenBalances(
      token,
      [whale, alice],
      [-50n, 50n],
    )
    await stopImpersonatingAccount(whale)
    await expect(token.connect(signer).transfer(alice, 0n)).to.be.rejected
  })

  it('finds its past events', async () => {
    const { token, alice } = await loadFixture(deployToken)
    for (const amount of [1n, 2n, 3n]) await token.transfer(alice, amount)
    const events = await token.queryFilter(token.filters.Transfer(null, alice))
    expect(events.map((event) => event.args.value)).to.deep.equal([1n, 2n, 3n])
  })
})

describe('ERC721 with AccessControl and Pausable', () => {
  async function deployBadge() {
    const [admin, minter, pauser, other] = await ethers.getSigners()
    const badge = await ethers.deployContract('Badge', [admin])
    const [MINTER, PAUSER] = await Promise.all([badge.MINTER_ROLE(), badge.PAUSER_ROLE()])
    await badge.grantRole(MINTER, minter)
    await badge.grantRole(PAUSER, pauser)
    return { badge, admin, minter, pauser, other, MINTER, PAUSER }
  }

  it('supports the interfaces of both', async () => {
    const { badge } = await loadFixture(deployBadge)
    expect(await badge.supportsInterface('0x80ac58cd')).to.equal(true)
    expect(await badge.supportsInterface('0x7965db0b')).to.equal(true)
    expect(await badge.supportsInterface('0xffffffff')).to.equal(false)
  })

  it('mints by the role', async () => {
    const { badge, minter, other } = await loadFixture(deployBadge)
    await expect(badge.connect(minter).mint(other, 1n))
      .to.emit(badge, 'Transfer')
      .withArgs(ethers.ZeroAddress, other, 1n)
    expect(await badge.ownerOf(1n)).to.equal(other)
    await expect(badge.connect(minter).mint(other, 1n))
      .to.be.revertedWithCustomError(badge, 'ERC721InvalidSender')
      .withArgs(ethers.ZeroAddress)
  })

  it('refuses who has no role, with the account and the role', async () => {
    const { badge, other, MINTER } = await loadFixture(deployBadge)
    await expect(badge.connect(other).mint(other, 1n))
      .to.be.revertedWithCustomError(badge, 'AccessControlUnauthorizedAccount')
      .withArgs(other, MINTER)
  })

  it('grants, revokes and renounces', async () => {
    const { badge, admin, minter, other, MINTER } = await loadFixture(deployBadge)
    await expect(badge.grantRole(MINTER, other)).to.emit(badge, 'RoleGranted').withArgs(MINTER, other, admin)
    await expect(badge.grantRole(MINTER, other)).to.not.emit(badge, 'RoleGranted')
    await expect(badge.revokeRole(MINTER, other)).to.emit(badge, 'RoleRevoked').withArgs(MINTER, other, admin)
    await expect(badge.connect(minter).renounceRole(MINTER, other)).to.be.revertedWithCustomError(
      badge,
      'AccessControlBadConfirmation',
    )
    await expect(badge.connect(minter).renounceRole(MINTER, minter)).to.emit(badge, 'RoleRevoked')
    expect(await badge.hasRole(MINTER, minter)).to.equal(false)
  })

  it('pauses', async () => {
    const { badge, minter, pauser, other } = await loadFixture(deployBadge)
    await badge.connect(pauser).pause()
    await expect(badge.connect(minter).mint(other, 1n)).to.be.revertedWithCustomError(badge, 'EnforcedPause')
  })

  it('does not transfer safely to a contract that takes no badge', async () => {
    const { badge, minter, other } = await loadFixture(deployBadge)
    const token = await ethers.deployContract('Token', [0n])
    await badge.connect(minter).mint(other, 2n)
    await expect(badge.connect(other)['safeTransferFrom(address,address,uint256)'](other, token, 2n))
      .to.be.revertedWithCustomError(badge, 'ERC721InvalidReceiver')
      .withArgs(token)
  })

  it('fails for a badge that does not exist, in a call as in a transaction', async () => {
    const { badge, other } = await loadFixture(deployBadge)
    await expect(badge.ownerOf(9n))
      .to.be.revertedWithCustomError(badge, 'ERC721NonexistentToken')
      .withArgs(9n)
    await expect(badge.approve(other, 9n)).to.be.revertedWithCustomError(badge, 'ERC721NonexistentToken')
  })
})
