"""The mailbox's changes, as Lua: each is atomic.

Times are arguments, from the app's clock, in seconds since the epoch.

KEYS: 1 state (hash), 2 pending ids (list, in arrival order), 3 messages by id (hash), 4 seen inbound ids (set),
5 dead letters (list of ids), 6 the index of mailboxes that have work (set), 7 those of the pending ids that interrupt
(list), 8 ids that a stop has discarded and the log does not say so yet (list), 9 the arrival numbers of messages by id
(hash), 10 the conversations that are listened to (set). The conversation's id is always ARGV[1].

Bosun is subscribed to a conversation by the message that calls it there, and no longer by a stop, in the same script:
so the same message again, however late, does not undo a stop that came after it.

Each script's first write is one that a full store refuses, or there is no such write in it: a store that is full
changes nothing.
"""

from __future__ import annotations

from typing import Final

APPEND: Final = """
-- ARGV: conversation, message id, message, 1 if it interrupts, 1 if no person wrote it, 1 if it subscribes. Returns 1
-- if it is new.
local id, message_id, body = ARGV[1], ARGV[2], ARGV[3]
if redis.call('SADD', KEYS[4], message_id) == 0 then
  return 0
end
redis.call('HSET', KEYS[3], message_id, body)
redis.call('HSET', KEYS[9], message_id, redis.call('HINCRBY', KEYS[1], 'arrivals', 1))
redis.call('RPUSH', KEYS[2], message_id)
if ARGV[4] == '1' then
  redis.call('RPUSH', KEYS[7], message_id)
end
if ARGV[5] ~= '1' then
  redis.call('HDEL', KEYS[1], 'automated', 'automated_last')
end
redis.call('SADD', KEYS[6], id)
if ARGV[6] == '1' then
  redis.call('SADD', KEYS[10], id)
end
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'running' and status ~= 'paused' then
  redis.call('HSET', KEYS[1], 'status', 'pending')
end
return 1
"""

TAKE: Final = """
-- ARGV: conversation, token, run id, now, expiry, the nudge's reason. Returns 'busy', 'held' (paused, and this is not
-- its resumption), 'empty', or 'stopped' or 'work' with the number of failed attempts and messages.
-- A lease that expired counts as one failed attempt at the same work. One attempt looks at 200 messages at most.
local id, token, run_id, now, expires = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local held = redis.call('HGET', KEYS[1], 'lease_expires_at')
if held and tonumber(held) > now then
  return {'busy'}
end
local kind, ids = 'stopped', redis.call('LRANGE', KEYS[8], 0, 199)
if #ids == 0 then
  kind, ids = 'work', redis.call('LRANGE', KEYS[7], 0, 199)
  if #ids == 0 then
    if redis.call('HGET', KEYS[1], 'status') == 'paused' and ARGV[6] ~= 'resume' then
      return {'held'}
    end
    ids = redis.call('LRANGE', KEYS[2], 0, 199)
  end
end
if #ids == 0 then
  redis.call('HDEL', KEYS[1], 'lease_token', 'lease_expires_at', 'lease_checked_in_at', 'run_id', 'retries',
    'turn_from')
  redis.call('HSET', KEYS[1], 'status', 'idle')
  redis.call('SREM', KEYS[6], id)
  return {'empty'}
end
redis.call('HSET', KEYS[1], 'status', 'running', 'lease_token', token, 'lease_expires_at', expires,
  'lease_checked_in_at', ARGV[4], 'run_id', run_id)
if held then
  redis.call('HINCRBY', KEYS[1], 'retries', 1)
end
local arrivals = redis.call('HGET', KEYS[1], 'arrivals') or '0'
redis.call('HSET', KEYS[1], 'shown_to', arrivals)
if kind == 'work' then
  redis.call('HSETNX', KEYS[1], 'turn_from', arrivals)
end
return {kind, redis.call('HGET', KEYS[1], 'retries') or '0', unpack(redis.call('HMGET', KEYS[3], unpack(ids)))}
"""

READ: Final = """
-- ARGV: conversation, token. What the running turn's reading finds: 'lost', or 'kept', 1 if it is stopped, and each
-- pending message, with 1 before it if it came after the turn was begun.
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return {'lost'}
end
local from, arrivals = redis.call('HGET', KEYS[1], 'turn_from'), redis.call('HGET', KEYS[1], 'arrivals') or '0'
if not from then
  from = arrivals
  redis.call('HSET', KEYS[1], 'turn_from', from)
end
if redis.call('HGET', KEYS[1], 'shown_to') ~= arrivals then
  redis.call('HSET', KEYS[1], 'shown_to', arrivals)
end
local found = {'kept', redis.call('LLEN', KEYS[8]) > 0 and '1' or '0'}
for _, message_id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local arrival = redis.call('HGET', KEYS[9], message_id) or '0'
  found[#found + 1] = tonumber(arrival) > tonumber(from) and '1' or '0'
  found[#found + 1] = redis.call('HGET', KEYS[3], message_id)
end
return found
"""

STOP: Final = """
-- ARGV: conversation, and perhaps the message that asks for it: its id, and itself. Discards all that is pending, that
-- message too, and listens no more. Returns how many discarded messages the log is yet to be told of, or -1 where the
-- same message has asked before: then nothing is done.
if ARGV[2] then
  if redis.call('SADD', KEYS[4], ARGV[2]) == 0 then
    return -1
  end
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
  redis.call('HSET', KEYS[9], ARGV[2], redis.call('HINCRBY', KEYS[1], 'arrivals', 1))
  redis.call('RPUSH', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[1], 'automated', 'automated_last')
  redis.call('SADD', KEYS[6], ARGV[1])
  local status = redis.call('HGET', KEYS[1], 'status')
  if status ~= 'running' then
    redis.call('HSET', KEYS[1], 'status', 'pending')
  end
end
local ids = redis.call('LRANGE', KEYS[2], 0, -1)
for _, message_id in ipairs(ids) do
  redis.call('RPUSH', KEYS[8], message_id)
end
if #ids > 0 then
  redis.call('DEL', KEYS[2], KEYS[7])
end
if redis.call('HGET', KEYS[1], 'status') == 'paused' then
  redis.call('HSET', KEYS[1], 'status', 'pending')
end
redis.call('SREM', KEYS[10], ARGV[1])
return redis.call('LLEN', KEYS[8])
"""

REVISE: Final = """
-- ARGV: conversation, message id, message as it was, message as it is to be, '' to withdraw it. Returns 'gone' when the
-- message is not here, 'other' when it is not as it was, 'waiting' when nobody has been shown it before, else 'shown':
-- it may be in the log by now, and is not withdrawn.
local body = redis.call('HGET', KEYS[3], ARGV[2])
if not body then
  return 'gone'
end
if body ~= ARGV[3] then
  return 'other'
end
local arrival = tonumber(redis.call('HGET', KEYS[9], ARGV[2]) or '0')
local kind = 'shown'
if arrival > tonumber(redis.call('HGET', KEYS[1], 'shown_to') or '0') then
  kind = 'waiting'
end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[4])
elseif kind == 'waiting' then
  for _, list in ipairs({KEYS[2], KEYS[7], KEYS[8]}) do
    redis.call('LREM', list, 0, ARGV[2])
  end
  redis.call('HDEL', KEYS[3], ARGV[2])
  redis.call('HDEL', KEYS[9], ARGV[2])
  local left = redis.call('LLEN', KEYS[2]) + redis.call('LLEN', KEYS[8])
  if left == 0 and not redis.call('HGET', KEYS[1], 'lease_token') then
    redis.call('HDEL', KEYS[1], 'retries', 'turn_from')
    redis.call('HSET', KEYS[1], 'status', 'idle')
    redis.call('SREM', KEYS[6], ARGV[1])
  end
end
return kind
"""

STOPPED: Final = """
-- ARGV: conversation. Returns the messages that a stop has discarded and the log does not say so yet.
local found = {}
for _, message_id in ipairs(redis.call('LRANGE', KEYS[8], 0, -1)) do
  found[#found + 1] = redis.call('HGET', KEYS[3], message_id)
end
return found
"""

CHECK_IN: Final = """
-- ARGV: conversation, token, now, expiry. Returns 0 when the lease is somebody else's.
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'lease_expires_at', ARGV[4], 'lease_checked_in_at', ARGV[3])
return 1
"""

CONSUME: Final = """
-- ARGV: conversation, token, 1 if their turn has ended, message ids. The log has these, so they go, whoever holds the
-- lease.
for n = 4, #ARGV do
  for _, list in ipairs({KEYS[2], KEYS[7], KEYS[8]}) do
    redis.call('LREM', list, 0, ARGV[n])
  end
  redis.call('HDEL', KEYS[3], ARGV[n])
  redis.call('HDEL', KEYS[9], ARGV[n])
end
local holder = redis.call('HGET', KEYS[1], 'lease_token')
if holder and ARGV[3] == '1' and holder == ARGV[2] then
  redis.call('HDEL', KEYS[1], 'retries', 'turn_from')
elseif not holder and redis.call('LLEN', KEYS[2]) + redis.call('LLEN', KEYS[8]) == 0 then
  redis.call('HDEL', KEYS[1], 'retries', 'turn_from')
  redis.call('HSET', KEYS[1], 'status', 'idle')
  redis.call('SREM', KEYS[6], ARGV[1])
end
"""

BURY: Final = """
-- ARGV: conversation, token, message ids. Moves them to the dead letters; their bodies stay. Returns 0 or 1 (done).
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return 0
end
for n = 3, #ARGV do
  local found = 0
  for _, list in ipairs({KEYS[2], KEYS[7], KEYS[8]}) do
    found = found + redis.call('LREM', list, 0, ARGV[n])
  end
  if found > 0 then
    redis.call('RPUSH', KEYS[5], ARGV[n])
    redis.call('HDEL', KEYS[9], ARGV[n])
  end
end
redis.call('HDEL', KEYS[1], 'retries', 'turn_from')
return 1
"""

RELEASE: Final = """
-- ARGV: conversation, token, 'done', 'failed' or 'paused'. Returns how many messages wait, or -1 without the lease.
local id = ARGV[1]
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return -1
end
redis.call('HDEL', KEYS[1], 'lease_token', 'lease_expires_at', 'lease_checked_in_at', 'run_id')
if ARGV[3] == 'failed' then
  redis.call('HINCRBY', KEYS[1], 'retries', 1)
end
local stopped = redis.call('LLEN', KEYS[8])
local left = redis.call('LLEN', KEYS[2]) + stopped
if left == 0 then
  redis.call('HDEL', KEYS[1], 'turn_from')
  redis.call('HSET', KEYS[1], 'status', 'idle')
  redis.call('SREM', KEYS[6], id)
elseif ARGV[3] == 'paused' and stopped == 0 then
  redis.call('HDEL', KEYS[1], 'retries')
  redis.call('HSET', KEYS[1], 'status', 'paused')
else
  redis.call('HSET', KEYS[1], 'status', 'pending')
end
return left
"""

AUTOMATED: Final = """
-- ARGV: conversation, the id of an automated turn's first message. Counts the turn, once. Returns how many there were
-- since a person wrote.
if redis.call('HGET', KEYS[1], 'automated_last') ~= ARGV[2] then
  redis.call('HSET', KEYS[1], 'automated_last', ARGV[2])
  redis.call('HINCRBY', KEYS[1], 'automated', 1)
end
return tonumber(redis.call('HGET', KEYS[1], 'automated') or '0')
"""
