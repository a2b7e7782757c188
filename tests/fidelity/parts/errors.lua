-- SPDX-License-Identifier: MIT
-- 100,000 errors, one of twelve raised in some special way: real.py.
local n_caught = 0

local function caught(ok, ...)
	assert(not ok)
	n_caught = n_caught + 1
end

local function deep(n)
	if n == 0 then error("deep") end
	return deep(n - 1) + 1
end

local broken = setmetatable({}, {
	__index = function(t, k) error({key = k}) end,
	__add = function(a, b) return a.missing.missing end,
	__close = function() error("closed") end,
})

local ways = {
	function() error("plain") end,
	function() deep(6) end,
	function() return broken.field end,
	function() return broken + 1 end,
	function() return nil .. "x" end,
	function() return #5 end,
	function() string.rep("x", -1):bad() end,
	function() string.gsub("abc", "%w", function(c) error(c) end) end,
	function() table.sort({3, 1, 2}, function(a, b) error("sort") end) end,
	function() return tostring(setmetatable({}, {__tostring = deep})) end,
	function() local x <close> = broken; error("inner") end,
	function() caught(pcall(error, "nested")); error("outer") end,
	function() assert(load("return +"))() end,
	function() coroutine.wrap(function() coroutine.yield(1); error("co") end)()
		local co = coroutine.wrap(function() coroutine.yield(pcall(coroutine.yield)); error("late") end)
		co() co() co() end,
	function() select(-5) end,
}

local i = 0
while n_caught < 100000 do
	i = i + 1
	local way = ways[i // 12 % #ways + 1]
	if i % 12 ~= 0 then
		caught(pcall(error))
	elseif i % 36 == 0 then
		caught(xpcall(way, function(m) return tostring(m) end))
	else
		caught(pcall(way))
	end
end
print(n_caught)
