// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Counter {
    error TooMuch(uint256 asked);

    event Increased(address indexed by, uint256 value);

    uint256 public value;

    constructor(uint256 start) {
        value = start;
    }

    function increase(uint256 by) external payable {
        if (by > 100) revert TooMuch(by);
        value += by;
        emit Increased(msg.sender, value);
    }
}
