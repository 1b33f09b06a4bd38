"""The mailbox's changes, as Lua: each is atomic.

Times are arguments, from the app's clock, in seconds since the epoch.

KEYS: 1 state (hash), 2 pending ids (list, in arrival order), 3 messages by id (hash), 4 seen inbound ids
(set), 5 dead letters (list of ids), 6 the index of mailboxes that have work (set). The conversation's id is
always ARGV[1].
"""

from __future__ import annotations

from typing import Final

APPEND: Final = """
-- ARGV: conversation, message id, message. Returns {1 if it is new, number of pending messages}.
local id, message_id, body = ARGV[1], ARGV[2], ARGV[3]
if redis.call('SADD', KEYS[4], message_id) == 0 then
  return {0, redis.call('LLEN', KEYS[2])}
end
redis.call('HSET', KEYS[3], message_id, body)
redis.call('RPUSH', KEYS[2], message_id)
redis.call('SADD', KEYS[6], id)
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'running' and status ~= 'paused' then
  redis.call('HSET', KEYS[1], 'status', 'pending')
end
return {1, redis.call('LLEN', KEYS[2])}
"""

TAKE: Final = """
-- ARGV: conversation, token, run id, now, expiry. Returns 'busy', 'empty', or 'taken', failed attempts, messages.
-- A lease that expired counts as one failed attempt at the same work. One attempt looks at 200 messages at most.
local id, token, run_id, now, expires = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local held = redis.call('HGET', KEYS[1], 'lease_expires_at')
if held and tonumber(held) > now then
  return {'busy'}
end
local ids = redis.call('LRANGE', KEYS[2], 0, 199)
if held then
  redis.call('HINCRBY', KEYS[1], 'retries', 1)
end
if #ids == 0 then
  redis.call('HDEL', KEYS[1], 'lease_token', 'lease_expires_at', 'lease_checked_in_at', 'run_id', 'retries')
  redis.call('HSET', KEYS[1], 'status', 'idle')
  redis.call('SREM', KEYS[6], id)
  return {'empty'}
end
redis.call('HSET', KEYS[1], 'status', 'running', 'lease_token', token, 'lease_expires_at', expires,
  'lease_checked_in_at', ARGV[4], 'run_id', run_id)
local bodies = redis.call('HMGET', KEYS[3], unpack(ids))
return {'taken', redis.call('HGET', KEYS[1], 'retries') or '0', unpack(bodies)}
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
-- ARGV: conversation, token, message ids. The log says that these are handled, so they go, whoever holds the lease.
for n = 3, #ARGV do
  redis.call('LREM', KEYS[2], 0, ARGV[n])
  redis.call('HDEL', KEYS[3], ARGV[n])
end
if redis.call('HGET', KEYS[1], 'lease_token') == ARGV[2] then
  redis.call('HDEL', KEYS[1], 'retries')
end
return redis.call('LLEN', KEYS[2])
"""

BURY: Final = """
-- ARGV: conversation, token, message ids. Moves them to the dead letters; their bodies stay. Returns 0 or 1 (done).
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return 0
end
for n = 3, #ARGV do
  if redis.call('LREM', KEYS[2], 0, ARGV[n]) > 0 then
    redis.call('RPUSH', KEYS[5], ARGV[n])
  end
end
redis.call('HDEL', KEYS[1], 'retries')
return 1
"""

RELEASE: Final = """
-- ARGV: conversation, token, 1 if the attempt failed. Returns the number of pending messages, or -1 without the lease.
local id = ARGV[1]
if redis.call('HGET', KEYS[1], 'lease_token') ~= ARGV[2] then
  return -1
end
redis.call('HDEL', KEYS[1], 'lease_token', 'lease_expires_at', 'lease_checked_in_at', 'run_id')
if ARGV[3] == '1' then
  redis.call('HINCRBY', KEYS[1], 'retries', 1)
end
local left = redis.call('LLEN', KEYS[2])
if left == 0 then
  redis.call('HSET', KEYS[1], 'status', 'idle')
  redis.call('SREM', KEYS[6], id)
else
  redis.call('HSET', KEYS[1], 'status', 'pending')
end
return left
"""
