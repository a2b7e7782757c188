-- SPDX-License-Identifier: MIT
-- Errors out of the middle of things.
local n = 0

local function fail()
	n = n + 1
	error({})
end

local function dig(depth)
	if depth == 0 then
		fail()
	end
	return 1 + dig(depth - 1)
end

local function handler(e)
	pcall(fail)
	return e
end

for i = 1, 100 do
	pcall(dig, i % 50)
	xpcall(dig, handler, i % 7)
	pcall(table.sort, { 3, 1, 2 }, fail)
	pcall(string.gsub, "abc", ".", fail)
	pcall(string.rep, "x", -1, {})
	pcall(load, fail)
	load("x = = " .. i)
	local co = coroutine.wrap(function()
		pcall(coroutine.yield, i)
		pcall(fail)
		dig(3)
	end)
	co()
	pcall(co)
	local t = setmetatable({}, { __index = fail, __close = fail, __gc = fail })
	pcall(function()
		local c <close> = t
		return c.x
	end)
end
print(n)
