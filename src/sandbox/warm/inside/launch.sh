# Waits inside a sandbox for the one script that it will run, and becomes it.
#
# An order on descriptor 3 is words that end with a zero byte: the working directory, the number of variables, each variable as
# name=value, and the number of words to start and those.
printf 'ready\n' >&3
IFS= read -r -d '' -u 3 kitbag_directory || exit 0
IFS= read -r -d '' -u 3 kitbag_count
while ((kitbag_count-- > 0)); do
  IFS= read -r -d '' -u 3 kitbag_word
  export "$kitbag_word"
done
IFS= read -r -d '' -u 3 kitbag_count
set --
while ((kitbag_count-- > 0)); do
  IFS= read -r -d '' -u 3 kitbag_word
  set -- "$@" "$kitbag_word"
done
cd "$kitbag_directory" || exit 125
unset OLDPWD kitbag_directory kitbag_count kitbag_word
# A script of this shell, too, is started anew: one that was only read in could tell, and many behave differently then.
exec "$@"
