-- wrk's script: the lines of the file that QUERIES names, one a request, around and around.
local queries = {}
for line in io.lines(os.getenv("QUERIES")) do
  queries[#queries + 1] = '{"query": "' .. line .. '"}'
end
local next = 0
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  next = next % #queries + 1
  return wrk.format(nil, nil, nil, queries[next])
end
