#!/bin/sh
# A service that says when it started and as which process, and then does nothing: stamp.sh DIRECTORY NAME
{ date +%s%N; echo $$; } > "$1/$2.new"
mv "$1/$2.new" "$1/$2"
exec sleep 1000000
