# SPDX-License-Identifier: MIT
# 800 processes, none of them another program.
add() {
	echo $(($1 + $2))
}
i=0
n=0
while [ $i -lt 100 ]; do
	i=$(add $i 1)
	n=$((n + $( (echo $i; exit 3) | { read -r x; echo "$x"; })))
	(trap 'echo left >/dev/null' EXIT; (exit $i); eval 'set -- $?'; exit $1)
	[ $? -eq $i ] || echo wrong
	case $(cat() { while read -r l; do echo "$l"; done; }; cat <<END
line $i
END
	) in
	"line $i") ;;
	*) echo wrong ;;
	esac

	{ :; } &
	wait
done
trap 'usr=$((usr + 1))' USR1
kill -USR1 $$ && (: ${none?not set}) 2>/dev/null
echo "$i $n $usr $?"
