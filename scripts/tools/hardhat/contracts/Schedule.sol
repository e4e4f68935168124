// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {VestingWallet} from "@openzeppelin/contracts/finance/VestingWallet.sol";
import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

contract Vesting is VestingWallet {
    constructor(address owner, uint64 start, uint64 duration) payable VestingWallet(owner, start, duration) {}
}

contract Timelock is TimelockController {
    constructor(uint256 delay, address[] memory proposers, address[] memory executors)
        TimelockController(delay, proposers, executors, address(0))
    {}
}
